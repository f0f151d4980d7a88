; The plan laws: L1 to L7 over facts that were read of a transition's answer, and
; the exact match of an effect with a declared triple. L5, the order of effects
; in a plan of several, is reserved: v1 plans carry one effect at most, so it is
; empty and no verdict names it.

(declare-datatypes ((PlanVerdict 0))
  (((lawful) (reserved-in-plan) (too-many-effects) (bad-id) (repeated-id) (payload-kind)
    (undeclared) (payload-size) (result-missing) (result-unwanted) (result-shape)
    (finish-alone) (reserved-in-result) (output-kind) (reserved-in-output) (effects-in-output))))
(declare-datatypes ((Facts 0))
  (((facts (reserved Bool) (effects Num) (finish Bool)
           (result-null Bool) (result-object Bool) (result-reserved Bool)))))
(declare-datatypes ((EffectFacts 0))
  (((effect-facts (id-lawful Bool) (is-declared Bool) (payload-object Bool) (payload-bytes Num)))))
(declare-datatypes ((OutputFacts 0))
  (((output-facts (out-object Bool) (out-reserved Bool) (out-effects Bool) (out-finish Bool)))))

; L6 for the plan itself, L1.
(define-fun judge-size ((f Facts)) PlanVerdict
  (ite (reserved f) reserved-in-plan
  (ite (not (and (le zero (effects f)) (le (effects f) one))) too-many-effects
       lawful)))

; L2, L4 kind, L3, L4 size.
(define-fun judge-effect ((e EffectFacts)) PlanVerdict
  (ite (not (id-lawful e)) bad-id
  (ite (not (payload-object e)) payload-kind
  (ite (not (is-declared e)) undeclared
  (ite (not (and (le zero (payload-bytes e)) (le (payload-bytes e) mebi))) payload-size
       lawful)))))

; L7, then L6 for the result.
(define-fun judge-result ((f Facts)) PlanVerdict
  (ite (not (or (result-null f) (result-object f))) result-shape
  (ite (and (= (effects f) zero) (not (result-object f))) result-missing
  (ite (and (not (= (effects f) zero)) (result-object f)) result-unwanted
  (ite (and (= (effects f) zero) (finish f)) finish-alone
  (ite (result-reserved f) reserved-in-result
       lawful))))))

; L6 for what a transition composed.
(define-fun judge-output ((o OutputFacts)) PlanVerdict
  (ite (not (out-object o)) output-kind
  (ite (out-reserved o) reserved-in-output
  (ite (and (out-finish o) (out-effects o)) effects-in-output
       lawful))))

; L2: an id has 1 to 16 bytes, each a lower-case letter or a digit.
(define-fun id-length ((n Num)) Bool (and (le one n) (le n sixteen)))
(define-fun id-byte ((c (_ BitVec 8))) Bool
  (or (and (bvule #x61 c) (bvule c #x7a)) (and (bvule #x30 c) (bvule c #x39))))
(define-fun id-next ((so-far Bool) (c (_ BitVec 8))) Bool (and so-far (id-byte c)))

; L2: an id is unique among the effects iff it is met once.
(define-fun met-next ((met Num) (here Text) (id Text)) Num (ite (= here id) (add met one) met))
(define-fun met-once ((met Num)) Bool (= met one))

; L3: a triple is declared iff it equals a declared one, all three of it.
(define-fun declared-next ((so-far Bool) (d Triple) (t Triple)) Bool (or so-far (= d t)))

; The law that a verdict reports.
(define-fun plan-law ((v PlanVerdict)) String
  (ite (= v lawful) ""
  (ite (= v too-many-effects) "L1"
  (ite (or (= v bad-id) (= v repeated-id)) "L2"
  (ite (= v undeclared) "L3"
  (ite (or (= v payload-kind) (= v payload-size)) "L4"
  (ite (or (= v result-missing) (= v result-unwanted) (= v result-shape) (= v finish-alone)) "L7"
       "L6")))))))
