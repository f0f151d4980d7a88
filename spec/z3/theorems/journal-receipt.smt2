; theorem: journal-receipt
; claim: In every reachable state the receipt of an intent is never corrupt, and it says not started exactly when no intent is durable.
; rests on: decision seeding journal invariants/journal receipt
; encodings: int bv64
(declare-const s State)
(declare-const id Text)
(declare-const known Outcome)
(define-fun l () Life (select (life s) id))
(define-fun x () Rows
  (rows (not (= l absent))
        (ite (= (select (outcomes s) id) zero) no-outcome (ite (= l settled) known cannot-tell))
        (= (select (made s) id) (epoch s))
        (= l closed)))
(assert (! (tidy s id) :named tidy-now))
(assert (! (or (= known succeeded) (= known failed)) :named known-is-known))
(assert (! (not (and
  (not (= (receipt x) corrupt))
  (= (= (receipt x) not-started) (= l absent))
  (=> (= l settled) (= (receipt x) resolved))
  (=> (or (= l unclear) (and (open l) (not (= (select (made s) id) (epoch s))))) (= (receipt x) indeterminate)))) :named goal))
