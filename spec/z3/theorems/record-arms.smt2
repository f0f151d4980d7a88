; theorem: record-arms
; claim: A record is lawful in exactly three ways: denied, succeeded and failed.
; rests on: decision record
; encodings: int bv64
(declare-const x EffectRecord)
(define-fun same () Bool (= (rec-after x) (rec-before x)))
(define-fun debited () Bool
  (and (le zero (rec-cost x)) (le (rec-cost x) (rec-before x)) (= (rec-after x) (sub (rec-before x) (rec-cost x)))))
(assert (! (not (and
  (= (= (arm x) arm-denied) (and (not (rec-allowed x)) (not (rec-failed x)) (= (rec-denial x) denial-label) same (= (rec-result x) no-result)))
  (= (= (arm x) arm-succeeded) (and (rec-allowed x) (not (rec-failed x)) (= (rec-denial x) no-denial) debited (= (rec-result x) a-ref)))
  (= (= (arm x) arm-failed) (and (rec-allowed x) (rec-failed x) (= (rec-denial x) no-denial) debited (= (rec-result x) no-result))))) :named goal))
