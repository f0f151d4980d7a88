; theorem: receipt-states
; claim: A receipt is one of five, by its rows alone: not started, running, indeterminate, resolved, and corrupt for rows that no lawful history leaves.
; rests on: receipt
; encodings: int bv64
(declare-const x Rows)
(define-fun known () Bool (or (= (outcome x) succeeded) (= (outcome x) failed)))
(define-fun bare () Bool (= (outcome x) no-outcome))
(define-fun c () Receipt (receipt x))
(assert (! (not (and
  (= (= c not-started) (and (not (has-intent x)) bare (not (is-reconciled x))))
  (= (= c running) (and (has-intent x) bare (is-current x) (not (is-reconciled x))))
  (= (= c indeterminate) (and (has-intent x) (not known) (not (is-reconciled x)) (not (and bare (is-current x)))))
  (= (= c resolved) (and (has-intent x) (not (= known (is-reconciled x)))))
  (= (= c corrupt) (or (and (not (has-intent x)) (or (not bare) (is-reconciled x)))
                       (and (has-intent x) known (is-reconciled x)))))) :named goal))
