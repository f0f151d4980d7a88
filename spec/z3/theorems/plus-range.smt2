; theorem: plus-range
; claim: A sum of spend is at least each of its parts, never negative, and never above the largest int64.
; rests on: decision seeding
; encodings: int bv64
(declare-const a Num)
(declare-const b Num)
(assert (! (le a maxint) :named a-fits))
(assert (! (le b maxint) :named b-fits))
(assert (! (not (and (le zero (plus a b)) (le a (plus a b)) (le b (plus a b)) (le (plus a b) maxint))) :named goal))
