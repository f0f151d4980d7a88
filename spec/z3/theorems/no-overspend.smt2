; theorem: no-overspend
; claim: After a request, what is left is not negative, and what is left plus what was spent is still what was minted: by induction no run of requests debits more than the budget.
; rests on: decision seeding
; encodings: int bv64
(declare-const spent Num)
(declare-const g Grant)
(declare-const r Request)
(define-fun minted () Num (add (budget g) spent))
(define-fun total () Num (add spent (spend g r)))
(assert (! (le zero spent) :named spent-so-far))
(assert (! (le zero (budget g)) :named a-budget))
(assert (! (le spent (sub maxint (budget g))) :named minted-fits))
(assert (! (not (and
  (= (plus spent (spend g r)) total)
  (le zero (budget (debit g r)))
  (= (add (budget (debit g r)) total) minted))) :named goal))
