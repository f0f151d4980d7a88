; theorem: seed-exact
; claim: While spend is below the budget, the seed and the spend make up the budget; from there on the seed is zero.
; rests on: decision seeding
; encodings: int bv64
(declare-const b Num)
(declare-const s Num)
(assert (! (le zero s) :named a-spend))
(assert (! (not (and
  (=> (lt s b) (= (add (seed b s) s) b))
  (=> (le b s) (= (seed b s) zero)))) :named goal))
