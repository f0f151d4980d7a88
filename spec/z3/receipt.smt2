; The receipt law: what may be said of an effect, from its durable rows alone.

(declare-datatypes ((Outcome 0)) (((no-outcome) (succeeded) (failed) (cannot-tell))))
(declare-datatypes ((Receipt 0)) (((not-started) (running) (indeterminate) (resolved) (corrupt))))
(declare-datatypes ((Rows 0))
  (((rows (has-intent Bool) (outcome Outcome)
          (is-current Bool)       ; the intent's lease epoch is the episode's
          (is-reconciled Bool)))))

; An operator's word closes what nobody knows, and nothing else. An open intent
; is running while its lease is current; without it nobody can tell.
(define-fun receipt ((x Rows)) Receipt
  (ite (not (has-intent x))
       (ite (and (= (outcome x) no-outcome) (not (is-reconciled x))) not-started corrupt)
  (ite (or (= (outcome x) succeeded) (= (outcome x) failed))
       (ite (is-reconciled x) corrupt resolved)
  (ite (is-reconciled x) resolved
  (ite (and (= (outcome x) no-outcome) (is-current x)) running
       indeterminate)))))

; Only what was never started may be started: nothing is retried on its own.
(define-fun may-start ((c Receipt)) Bool (= c not-started))
