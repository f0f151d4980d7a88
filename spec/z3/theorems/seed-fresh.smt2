; theorem: seed-fresh
; claim: Nothing spent seeds the whole budget, and a negative spend counts as none.
; rests on: decision seeding
; encodings: int bv64
(declare-const b Num)
(declare-const s Num)
(assert (! (le s zero) :named nothing-spent))
(assert (! (le zero b) :named a-budget))
(assert (! (not (= (seed b s) b)) :named goal))
