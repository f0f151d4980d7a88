; theorem: receipt-may-start
; claim: What has any row about it is never started again: only an effect without intent and outcome may start.
; rests on: receipt
; encodings: int bv64
(declare-const x Rows)
(assert (! (not (= (may-start (receipt x))
  (not (or (has-intent x) (is-reconciled x) (not (= (outcome x) no-outcome)))))) :named goal))
