; theorem: plus-commutes
; claim: The order in which two amounts are spent does not matter.
; rests on: decision seeding
; encodings: int bv64
(declare-const a Num)
(declare-const b Num)
(assert (! (not (= (plus a b) (plus b a))) :named goal))
