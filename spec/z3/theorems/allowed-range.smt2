; theorem: allowed-range
; claim: An allowed request leaves at least nothing and at most the budget, and what it leaves plus its cost is the budget.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (not (and
  (le zero (remaining g r))
  (le (remaining g r) (budget g))
  (= (add (remaining g r) (cost r)) (budget g)))) :named goal))
