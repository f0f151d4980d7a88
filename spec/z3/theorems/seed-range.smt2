; theorem: seed-range
; claim: A seed is never negative and never above a budget that is not negative, and a negative budget seeds nothing.
; rests on: decision seeding
; encodings: int bv64
(declare-const b Num)
(declare-const s Num)
(assert (! (not (and
  (le zero (seed b s))
  (=> (le zero b) (le (seed b s) b))
  (=> (lt b zero) (= (seed b s) zero)))) :named goal))
