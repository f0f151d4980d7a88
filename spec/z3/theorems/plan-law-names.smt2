; theorem: plan-law-names
; claim: Every broken verdict reports its law, a lawful one reports none, and none reports the reserved L5.
; rests on: decision plan
; encodings: int bv64
(declare-const v PlanVerdict)
(assert (! (not (and
  (= (= (plan-law v) "") (= v lawful))
  (= (= (plan-law v) "L1") (= v too-many-effects))
  (= (= (plan-law v) "L2") (or (= v bad-id) (= v repeated-id)))
  (= (= (plan-law v) "L3") (= v undeclared))
  (= (= (plan-law v) "L4") (or (= v payload-kind) (= v payload-size)))
  (not (= (plan-law v) "L5"))
  (= (= (plan-law v) "L6") (or (= v reserved-in-plan) (= v reserved-in-result) (= v output-kind)
                               (= v reserved-in-output) (= v effects-in-output)))
  (= (= (plan-law v) "L7") (or (= v result-missing) (= v result-unwanted) (= v result-shape) (= v finish-alone))))) :named goal))
