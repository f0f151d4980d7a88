; theorem: plan-size
; claim: A plan passes the first check exactly when it has no reserved key (L6) and zero or one effect (L1), judged in that order.
; rests on: decision plan
; encodings: int bv64
(declare-const f Facts)
(define-fun v () PlanVerdict (judge-size f))
(define-fun few () Bool (or (= (effects f) zero) (= (effects f) one)))
(assert (! (not (and
  (= (= v reserved-in-plan) (reserved f))
  (= (= v too-many-effects) (and (not (reserved f)) (not few)))
  (= (= v lawful) (and (not (reserved f)) few)))) :named goal))
