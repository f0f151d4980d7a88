; theorem: plan-finish
; claim: Only a lawful plan with an effect asks for a finish phase, and only a lawful plan without one carries its own result.
; rests on: decision plan
; encodings: int bv64
(declare-const f Facts)
(assert (! (= (judge-size f) lawful) :named size-passes))
(assert (! (= (judge-result f) lawful) :named result-passes))
(assert (! (not (and
  (=> (finish f) (= (effects f) one))
  (=> (= (effects f) zero) (result-object f))
  (=> (= (effects f) one) (and (result-null f) (not (result-object f)))))) :named goal))
