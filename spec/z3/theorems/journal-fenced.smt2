; theorem: journal-fenced
; claim: A holder whose epoch is not the current one writes nothing: no intent, no run, no outcome, no reconciliation.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(define-fun stale ((under Num)) Bool (not (= under (epoch s))))
(assert (! (or (and ((_ is intend) e) (stale (i-under e))) (and ((_ is run) e) (stale (r-under e)))
               (and ((_ is finish-effect) e) (stale (f-under e))) (and ((_ is reconcile) e) (stale (c-under e)))) :named fenced-off))
(assert (! (not (= (after-event s e) s)) :named goal))
