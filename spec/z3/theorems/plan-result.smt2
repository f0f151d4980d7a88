; theorem: plan-result
; claim: A plan's result passes exactly when it is an object without reserved key and the plan has neither effects nor finish, or is null and the plan has effects (L7, L6), and the first rule broken is the one reported.
; rests on: decision plan
; encodings: int bv64
(declare-const f Facts)
(define-fun v () PlanVerdict (judge-result f))
(define-fun none () Bool (= (effects f) zero))
(define-fun shaped () Bool (or (result-null f) (result-object f)))
(define-fun balanced () Bool (= none (result-object f)))
(assert (! (not (and
  (= (= v result-shape) (not shaped))
  (= (= v result-missing) (and shaped none (not (result-object f))))
  (= (= v result-unwanted) (and shaped (not none) (result-object f)))
  (= (= v finish-alone) (and shaped balanced none (finish f)))
  (= (= v reserved-in-result) (and shaped balanced (not (and none (finish f))) (result-reserved f)))
  (= (= v lawful) (and shaped balanced (not (and none (finish f))) (not (result-reserved f)))))) :named goal))
