; theorem: record-of-run
; claim: What is recorded of an allowed effect is a lawful record that succeeded or failed as it did, with the budget before and after as decided.
; rests on: decision record
; encodings: int bv64
(declare-const i Num)
(declare-const g Grant)
(declare-const r Request)
(declare-const ok Bool)
(define-fun x () EffectRecord (record-run (single i g r) r ok))
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (not (and
  (= (arm x) (ite ok arm-succeeded arm-failed))
  (= (rec-cost x) (cost r)) (= (rec-before x) (budget g)) (= (rec-after x) (remaining g r)))) :named goal))
