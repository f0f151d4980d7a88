; theorem: seed-spend
; claim: What a seeded grant allows fits: unless it costs nothing, its cost is at most what the spend leaves of the budget, and adding it to the spend does not saturate.
; rests on: decision seeding
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(declare-const spent Num)
(assert (! (= (judge (seeded g spent) r) allowed) :named seeded-allows))
(assert (! (le zero spent) :named a-spend))
(assert (! (le spent maxint) :named spend-fits))
(assert (! (le (budget g) maxint) :named budget-fits))
(assert (! (not (and
  (le (cost r) (sub maxint spent))
  (or (= (cost r) zero) (le (cost r) (sub (budget g) spent))))) :named goal))
