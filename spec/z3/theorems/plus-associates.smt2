; theorem: plus-associates
; claim: The grouping in which amounts are spent does not matter.
; rests on: decision seeding
; encodings: int
; carried by: transfer-plus
(declare-const a Num)
(declare-const b Num)
(declare-const c Num)
(assert (! (not (= (plus (plus a b) c) (plus a (plus b c)))) :named goal))
