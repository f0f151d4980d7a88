; theorem: plan-effect
; claim: An effect passes exactly when its id is lawful (L2), its payload is an object (L4), it is declared (L3) and its payload has 0 to 1048576 bytes (L4), judged in that order.
; rests on: decision plan
; encodings: int bv64
(declare-const e EffectFacts)
(define-fun v () PlanVerdict (judge-effect e))
(define-fun fits () Bool (and (le zero (payload-bytes e)) (le (payload-bytes e) mebi)))
(assert (! (not (and
  (= (= v bad-id) (not (id-lawful e)))
  (= (= v payload-kind) (and (id-lawful e) (not (payload-object e))))
  (= (= v undeclared) (and (id-lawful e) (payload-object e) (not (is-declared e))))
  (= (= v payload-size) (and (id-lawful e) (payload-object e) (is-declared e) (not fits)))
  (= (= v lawful) (and (id-lawful e) (payload-object e) (is-declared e) fits)))) :named goal))
