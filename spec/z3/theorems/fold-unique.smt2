; theorem: fold-unique
; claim: Only one decision answers a list of grants: what the fold means fixes its value.
; rests on: decision invariants/fold
; encodings: int bv64
(declare-const d Decision)
(declare-const e Decision)
(declare-const n Num)
(declare-const cs (Array Num Decision))
(assert (! (answers d n cs (index e)) :named d-answers))
(assert (! (answers e n cs (index d)) :named e-answers))
(assert (! (not (= d e)) :named goal))
