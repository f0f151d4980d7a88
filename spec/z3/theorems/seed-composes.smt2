; theorem: seed-composes
; claim: Seeding twice is seeding once with the sum of the spend.
; rests on: decision seeding
; encodings: int
; carried by: transfer-seed transfer-plus transfer-wrap
(declare-const b Num)
(declare-const s Num)
(declare-const t Num)
(assert (! (le b maxint) :named budget-fits))
(assert (! (not (= (seed (seed b s) t) (seed b (plus s t)))) :named goal))
