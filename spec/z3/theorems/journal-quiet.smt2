; theorem: journal-quiet
; claim: Replay, seeding and a denial change nothing: nothing runs, nothing is spent.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(assert (! (or (= e replay) (= e seed-grants) ((_ is deny) e)) :named reads-only))
(assert (! (not (= (after-event s e) s)) :named goal))
