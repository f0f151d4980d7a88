; theorem: transfer-seed
; claim: In 64 bits, a seed is the ideal one: the budget less the spend, both at least zero, and at least zero, computed with room to spare.
; rests on: decision seeding
; encodings: bv64
(declare-const b Num)
(declare-const s Num)
(define-fun wide ((a Num)) (_ BitVec 66) ((_ sign_extend 2) a))
(define-fun above ((a (_ BitVec 66))) (_ BitVec 66) (ite (bvslt a (wide zero)) (wide zero) a))
(assert (! (not (= (wide (seed b s)) (above (bvsub (above (wide b)) (above (wide s)))))) :named goal))
