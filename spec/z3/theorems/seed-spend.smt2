; theorem: seed-spend
; claim: What a seeded grant allows fits: the spend with the cost added is exact, and within the budget unless the cost is nothing.
; rests on: decision seeding
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(declare-const spent Num)
(define-fun total () Num (plus spent (cost r)))
(assert (! (= (judge (seeded g spent) r) allowed) :named seeded-allows))
(assert (! (le zero spent) :named a-spend))
(assert (! (le spent maxint) :named spend-fits))
(assert (! (le (budget g) maxint) :named budget-fits))
(assert (! (not (and
  (= total (add spent (cost r)))
  (or (= (cost r) zero) (le total (budget g))))) :named goal))
