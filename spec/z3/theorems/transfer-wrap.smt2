; theorem: transfer-wrap
; claim: In 64 bits, no subtraction of an allowed request wraps.
; rests on: decision seeding
; encodings: bv64
(declare-const g Grant)
(declare-const r Request)
(define-fun wide ((n Num)) (_ BitVec 66) ((_ sign_extend 2) n))
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (not (= (wide (remaining g r)) (bvsub (wide (budget g)) (wide (cost r))))) :named goal))
