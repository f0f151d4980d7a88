; theorem: transfer-plus
; claim: In 64 bits, a sum of spend is the ideal one cut at the largest int64, computed with room to spare.
; rests on: decision seeding
; encodings: bv64
(declare-const a Num)
(declare-const b Num)
(define-fun wide ((n Num)) (_ BitVec 66) ((_ sign_extend 2) n))
(define-fun above ((n (_ BitVec 66))) (_ BitVec 66) (ite (bvslt n (wide zero)) (wide zero) n))
(define-fun ideal () (_ BitVec 66) (bvadd (above (wide a)) (above (wide b))))
(assert (! (not (= (wide (plus a b)) (ite (bvslt (wide maxint) ideal) (wide maxint) ideal))) :named goal))
