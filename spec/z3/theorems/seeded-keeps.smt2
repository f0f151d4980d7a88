; theorem: seeded-keeps
; claim: Seeding a grant changes its budget and nothing else.
; rests on: decision seeding
; encodings: int bv64
(declare-const g Grant)
(declare-const s Num)
(assert (! (not (= (seeded g s) (grant (g-effect g) (g-scope g) (expires g) (seed (budget g) s)))) :named goal))
