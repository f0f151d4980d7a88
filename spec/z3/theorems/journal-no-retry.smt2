; theorem: journal-no-retry
; claim: An intent of an earlier epoch, or with an outcome, or reconciled, is never run or finished again.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(assert (! (or (and ((_ is run) e) (= (r-id e) id)) (and ((_ is finish-effect) e) (= (f-id e) id))) :named acts-on-it))
(assert (! (or (not (= (select (made s) id) (epoch s))) (not (open (select (life s) id)))) :named stale-or-over))
(assert (! (not (= (after-event s e) s)) :named goal))
