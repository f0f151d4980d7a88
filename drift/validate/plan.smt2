; coordinator/plan/laws.go beside spec/z3/plan.smt2: how Go's values stand for the
; model's, and what each Go function must answer.

(define-fun verdict.go ((v PlanVerdict)) (_ BitVec 64)
  (ite (= v lawful) #x0000000000000000
  (ite (= v reserved-in-plan) #x0000000000000001
  (ite (= v too-many-effects) #x0000000000000002
  (ite (= v bad-id) #x0000000000000003
  (ite (= v repeated-id) #x0000000000000004
  (ite (= v payload-kind) #x0000000000000005
  (ite (= v undeclared) #x0000000000000006
  (ite (= v payload-size) #x0000000000000007
  (ite (= v result-missing) #x0000000000000008
  (ite (= v result-unwanted) #x0000000000000009
  (ite (= v result-shape) #x000000000000000a
  (ite (= v finish-alone) #x000000000000000b
  (ite (= v reserved-in-result) #x000000000000000c
  (ite (= v output-kind) #x000000000000000d
  (ite (= v reserved-in-output) #x000000000000000e
       #x000000000000000f))))))))))))))))
(define-fun verdict.model ((v (_ BitVec 64))) PlanVerdict
  (ite (= v #x0000000000000000) lawful
  (ite (= v #x0000000000000001) reserved-in-plan
  (ite (= v #x0000000000000002) too-many-effects
  (ite (= v #x0000000000000003) bad-id
  (ite (= v #x0000000000000004) repeated-id
  (ite (= v #x0000000000000005) payload-kind
  (ite (= v #x0000000000000006) undeclared
  (ite (= v #x0000000000000007) payload-size
  (ite (= v #x0000000000000008) result-missing
  (ite (= v #x0000000000000009) result-unwanted
  (ite (= v #x000000000000000a) result-shape
  (ite (= v #x000000000000000b) finish-alone
  (ite (= v #x000000000000000c) reserved-in-result
  (ite (= v #x000000000000000d) output-kind
  (ite (= v #x000000000000000e) reserved-in-output
       effects-in-output))))))))))))))))
(define-fun facts.model ((f go.Facts)) Facts
  (facts (go.Facts.Reserved f) (go.Facts.Effects f) (go.Facts.Finish f)
         (go.Facts.ResultNull f) (go.Facts.ResultObject f) (go.Facts.ResultReserved f)))
; Whether the id is lawful is what LawfulID says, which is proved on its own.
(define-fun effect.model ((e go.EffectFacts)) EffectFacts
  (effect-facts (go.LawfulID (go.EffectFacts.ID e)) (go.EffectFacts.Declared e)
                (go.EffectFacts.PayloadObject e) (go.EffectFacts.PayloadBytes e)))
(define-fun output.model ((o go.OutputFacts)) OutputFacts
  (output-facts (go.OutputFacts.Object o) (go.OutputFacts.Reserved o)
                (go.OutputFacts.Effects o) (go.OutputFacts.Finish o)))
(define-fun triple.model ((t go.law.Triple)) Triple
  (triple (go.law.Triple.Effect t) (go.law.Triple.Scope t) (go.law.Triple.Cost t)))

(define-fun want.JudgeSize ((f go.Facts)) (_ BitVec 64)
  (verdict.go (judge-size (facts.model f))))
(define-fun want.JudgeEffect ((e go.EffectFacts)) (_ BitVec 64)
  (verdict.go (judge-effect (effect.model e))))
(define-fun want.JudgeResult ((f go.Facts)) (_ BitVec 64)
  (verdict.go (judge-result (facts.model f))))
(define-fun want.JudgeOutput ((o go.OutputFacts)) (_ BitVec 64)
  (verdict.go (judge-output (output.model o))))

; A lawful verdict, or one outside the enumeration, names no law: asking panics.
(define-fun panics.Verdict.Law ((v (_ BitVec 64))) Bool
  (or (= (verdict.model v) lawful) (not (= v (verdict.go (verdict.model v))))))
(define-fun want.Verdict.Law ((v (_ BitVec 64))) Text
  (go.text (plan-law (verdict.model v))))

; The bytes of an id, by induction: once one is not lawful, no later one matters.
(define-fun start.LawfulID ((id Text)) Bool (id-length (go.len id)))
(define-fun step.LawfulID ((id Text) (i (_ BitVec 64)) (c (_ BitVec 8)) (so-far Bool)) Bool
  (id-next so-far c))
(define-fun final.LawfulID ((id Text) (so-far Bool)) Bool (not so-far))
(define-fun want.LawfulID ((id Text) (so-far Bool)) Bool so-far)

; How often an id is met, by induction: Go's counter is the model's.
(define-fun start.Once ((effects go.list.go.EffectFacts) (id Text)) Num zero)
(define-fun step.Once ((effects go.list.go.EffectFacts) (id Text) (i (_ BitVec 64)) (e go.EffectFacts) (met Num)) Num
  (met-next met (go.EffectFacts.ID e) id))
(define-fun want.Once ((effects go.list.go.EffectFacts) (id Text) (met Num)) Bool (met-once met))
(define-fun same.Once ((effects go.list.go.EffectFacts) (id Text) (i (_ BitVec 64)) (state go.Once.state) (met Num)) Bool
  (= (go.Once.state.0.n state) met))

; Whether a triple is declared, by induction: once found, no later one matters.
(define-fun start.Declared ((declared go.list.go.law.Triple) (t go.law.Triple)) Bool false)
(define-fun step.Declared ((declared go.list.go.law.Triple) (t go.law.Triple) (i (_ BitVec 64)) (d go.law.Triple) (found Bool)) Bool
  (declared-next found (triple.model d) (triple.model t)))
(define-fun final.Declared ((declared go.list.go.law.Triple) (t go.law.Triple) (found Bool)) Bool found)
(define-fun want.Declared ((declared go.list.go.law.Triple) (t go.law.Triple) (found Bool)) Bool found)
