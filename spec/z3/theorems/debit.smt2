; theorem: debit
; claim: A debit touches the budget and nothing else, and an allowed request takes exactly its cost.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(assert (! (not (and
  (= (g-effect (debit g r)) (g-effect g))
  (= (g-scope (debit g r)) (g-scope g))
  (= (expires (debit g r)) (expires g))
  (= (budget (debit g r)) (remaining g r))
  (=> (= (judge g r) allowed) (= (budget (debit g r)) (sub (budget g) (cost r)))))) :named goal))
