; broker/law beside spec/z3/decision.smt2 and spec/z3/seeding.smt2: how Go's
; values stand for the model's, and what each Go function must answer.

(define-fun verdict.go ((v Verdict)) (_ BitVec 64)
  (ite (= v denied-effect-name) #x0000000000000000
  (ite (= v denied-scope) #x0000000000000001
  (ite (= v denied-expired) #x0000000000000002
  (ite (= v denied-budget) #x0000000000000003
       #x0000000000000004)))))
(define-fun verdict.model ((v (_ BitVec 64))) Verdict
  (ite (= v #x0000000000000000) denied-effect-name
  (ite (= v #x0000000000000001) denied-scope
  (ite (= v #x0000000000000002) denied-expired
  (ite (= v #x0000000000000003) denied-budget
       allowed)))))
(define-fun grant.model ((g go.Grant)) Grant
  (grant (go.Grant.Effect g) (go.Grant.Scope g) (go.Grant.ExpiresAt g) (go.Grant.Budget g)))
(define-fun grant.go ((g Grant)) go.Grant
  (go.Grant.make (g-effect g) (g-scope g) (expires g) (budget g)))
(define-fun request.model ((r go.Request)) Request
  (request (go.Request.Effect r) (go.Request.Scope r) (go.Request.Cost r) (go.Request.Now r)))
(define-fun decision.go ((d Decision)) go.Decision
  (go.Decision.make (verdict.go (verdict d)) (index d) (before d) (after d)))

(define-fun want.Judge ((g go.Grant) (r go.Request)) (_ BitVec 64)
  (verdict.go (judge (grant.model g) (request.model r))))
(define-fun want.Debit ((g go.Grant) (r go.Request)) go.Grant
  (grant.go (debit (grant.model g) (request.model r))))
(define-fun want.Seed ((budget (_ BitVec 64)) (spent (_ BitVec 64))) (_ BitVec 64)
  (seed budget spent))
(define-fun want.Plus ((a (_ BitVec 64)) (b (_ BitVec 64))) (_ BitVec 64)
  (plus a b))

; A verdict outside the enumeration is a broken invariant, and only that panics.
(define-fun panics.Verdict.Label ((v (_ BitVec 64))) Bool
  (not (= v (verdict.go (verdict.model v)))))
(define-fun want.Verdict.Label ((v (_ BitVec 64))) Text
  (go.text (label (verdict.model v))))

; Many grants, by induction: the answer after i grants is the model's.
(define-fun start.Decide ((grants go.list.go.Grant) (r go.Request)) Decision nobody)
(define-fun step.Decide ((grants go.list.go.Grant) (r go.Request) (i (_ BitVec 64)) (g go.Grant) (d Decision)) Decision
  (consider d i (grant.model g) (request.model r)))
(define-fun final.Decide ((grants go.list.go.Grant) (r go.Request) (d Decision)) Bool
  (= (verdict d) allowed))
(define-fun want.Decide ((grants go.list.go.Grant) (r go.Request) (d Decision)) go.Decision
  (decision.go d))
