; The effect record: three lawful arms, and everything else is refused.

(declare-datatypes ((Denial 0)) (((no-denial) (denial-label) (other-text))))
(declare-datatypes ((Result 0)) (((no-result) (a-ref) (other-result))))
(declare-datatypes ((EffectRecord 0))
  (((effect-record (rec-cost Num) (rec-before Num) (rec-after Num)
                   (rec-allowed Bool) (rec-failed Bool) (rec-denial Denial) (rec-result Result)))))
(declare-datatypes ((Arm 0)) (((arm-denied) (arm-succeeded) (arm-failed) (unlawful))))

; What an allowed effect may say of its budget: it paid exactly its cost.
(define-fun paid ((x EffectRecord)) Bool
  (and (le zero (rec-cost x)) (le (rec-cost x) (rec-before x))
       (= (rec-after x) (sub (rec-before x) (rec-cost x)))))

(define-fun arm ((x EffectRecord)) Arm
  (ite (and (not (rec-allowed x)) (not (rec-failed x)) (= (rec-denial x) denial-label)
            (= (rec-after x) (rec-before x)) (= (rec-result x) no-result)) arm-denied
  (ite (and (rec-allowed x) (not (rec-failed x)) (= (rec-denial x) no-denial)
            (paid x) (= (rec-result x) a-ref)) arm-succeeded
  (ite (and (rec-allowed x) (rec-failed x) (= (rec-denial x) no-denial)
            (paid x) (= (rec-result x) no-result)) arm-failed
       unlawful))))

; What is recorded of a decision: a denial, or a run that had a result or failed.
(define-fun record-denied ((d Decision) (r Request)) EffectRecord
  (effect-record (cost r) (before d) (before d) false false denial-label no-result))
(define-fun record-run ((d Decision) (r Request) (ok Bool)) EffectRecord
  (effect-record (cost r) (before d) (after d) true (not ok) no-denial (ite ok a-ref no-result)))
