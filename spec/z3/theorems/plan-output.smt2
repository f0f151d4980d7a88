; theorem: plan-output
; claim: What a transition composed passes exactly when it is an object without the reserved key, and without effects if a finish phase made it (L6).
; rests on: decision plan
; encodings: int bv64
(declare-const o OutputFacts)
(define-fun v () PlanVerdict (judge-output o))
(define-fun claims () Bool (and (out-effects o) (out-finish o)))
(assert (! (not (and
  (= (= v output-kind) (not (out-object o)))
  (= (= v reserved-in-output) (and (out-object o) (out-reserved o)))
  (= (= v effects-in-output) (and (out-object o) (not (out-reserved o)) claims))
  (= (= v lawful) (and (out-object o) (not (out-reserved o)) (not claims))))) :named goal))
