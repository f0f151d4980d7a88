; theorem: seeded-narrows
; claim: A seeded grant allows nothing that the minted grant does not.
; rests on: decision seeding
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(declare-const s Num)
(assert (! (= (judge (seeded g s) r) allowed) :named seeded-allows))
(assert (! (le zero (budget g)) :named a-budget))
(assert (! (not (= (judge g r) allowed)) :named goal))
