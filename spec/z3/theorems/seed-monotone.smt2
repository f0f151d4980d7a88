; theorem: seed-monotone
; claim: More budget never seeds less.
; rests on: decision seeding
; encodings: int bv64
(declare-const b Num)
(declare-const c Num)
(declare-const s Num)
(assert (! (le b c) :named more-budget))
(assert (! (not (le (seed b s) (seed c s))) :named goal))
