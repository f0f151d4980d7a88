; theorem: single
; claim: The answer of one grant holds its verdict, its place, its budget and what the request leaves of it.
; rests on: decision
; encodings: int bv64
(declare-const i Num)
(declare-const g Grant)
(declare-const r Request)
(assert (! (not (and
  (= (verdict (single i g r)) (judge g r))
  (= (index (single i g r)) i)
  (= (before (single i g r)) (budget g))
  (= (after (single i g r)) (budget (debit g r))))) :named goal))
