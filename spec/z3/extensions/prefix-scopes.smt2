; Prefix scopes: a grant is for its scope and for everything below it, so that
; docs covers docs and docs/a, and not docs2. Everything else is the base law.

(declare-datatypes ((Verdict 0))
  (((denied-effect-name) (denied-scope) (denied-expired) (denied-budget) (allowed))))
(declare-datatypes ((Grant 0))
  (((grant (g-effect Text) (g-scope Text) (expires Num) (budget Num)))))
(declare-datatypes ((Triple 0))
  (((triple (t-effect Text) (t-scope Text) (t-cost Num)))))
(declare-datatypes ((Request 0))
  (((request (r-effect Text) (r-scope Text) (cost Num) (now Num)))))
(declare-datatypes ((Decision 0))
  (((decision (verdict Verdict) (index Num) (before Num) (after Num)))))

; A scope is within another if it is that one, or goes on after a slash.
(define-fun covered ((scope Text) (held Text)) Bool
  (or (= scope held) (str.prefixof (str.++ held "/") scope)))

; One grant: the first failing check answers.
(define-fun judge ((g Grant) (r Request)) Verdict
  (ite (not (= (g-effect g) (r-effect r))) denied-effect-name
  (ite (not (covered (r-scope r) (g-scope g))) denied-scope
  (ite (not (and (le zero (now r)) (lt (now r) (expires g)))) denied-expired
  (ite (not (and (le zero (cost r)) (le zero (budget g)) (le (cost r) (budget g)))) denied-budget
       allowed)))))

; What the request leaves of the grant.
(define-fun remaining ((g Grant) (r Request)) Num
  (ite (= (judge g r) allowed) (sub (budget g) (cost r)) (budget g)))
(define-fun debit ((g Grant) (r Request)) Grant
  (grant (g-effect g) (g-scope g) (expires g) (remaining g r)))

; Many grants, in mint order: start from nobody, consider each in turn, and let
; a later grant replace the answer only if it got further.
(define-fun rank ((v Verdict)) Int
  (ite (= v denied-effect-name) 0
  (ite (= v denied-scope) 1
  (ite (= v denied-expired) 2
  (ite (= v denied-budget) 3
       4)))))
(define-fun nobody () Decision
  (decision denied-effect-name (sub zero one) zero zero))
(define-fun single ((i Num) (g Grant) (r Request)) Decision
  (decision (judge g r) i (budget g) (remaining g r)))
(define-fun further ((d Decision) (c Decision)) Decision
  (ite (< (rank (verdict d)) (rank (verdict c))) c d))
(define-fun consider ((d Decision) (i Num) (g Grant) (r Request)) Decision
  (further d (single i g r)))

; A transition is visible iff its access triple is allowed on the minted grants.
(define-fun ask ((t Triple) (at Num)) Request
  (request (t-effect t) (t-scope t) (t-cost t) at))
(define-fun visible ((d Decision)) Bool (= (verdict d) allowed))

; The fixed strings that records and replies carry.
(define-fun label ((v Verdict)) String
  (ite (= v denied-effect-name) "denied:effect-name"
  (ite (= v denied-scope) "denied:scope"
  (ite (= v denied-expired) "denied:expired"
  (ite (= v denied-budget) "denied:budget"
       "allowed")))))
