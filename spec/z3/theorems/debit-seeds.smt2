; theorem: debit-seeds
; claim: An allowed debit leaves exactly the seed of the budget by the cost.
; rests on: decision seeding
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (not (and
  (= (budget (debit g r)) (seed (budget g) (cost r)))
  (= (spend g r) (cost r)))) :named goal))
