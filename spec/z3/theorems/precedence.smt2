; theorem: precedence
; claim: Each verdict is given exactly when the checks before it pass and its own fails, in the order effect name, scope, liveness, budget.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(define-fun same-effect () Bool (= (g-effect g) (r-effect r)))
(define-fun same-scope () Bool (= (g-scope g) (r-scope r)))
(define-fun live () Bool (and (le zero (now r)) (lt (now r) (expires g))))
(define-fun within () Bool (and (le zero (cost r)) (le zero (budget g)) (le (cost r) (budget g))))
(assert (! (not (and
  (= (= (judge g r) denied-effect-name) (not same-effect))
  (= (= (judge g r) denied-scope) (and same-effect (not same-scope)))
  (= (= (judge g r) denied-expired) (and same-effect same-scope (not live)))
  (= (= (judge g r) denied-budget) (and same-effect same-scope live (not within)))
  (= (= (judge g r) allowed) (and same-effect same-scope live within)))) :named goal))
