; theorem: monotone-budget
; claim: What a grant allows, the same grant with a larger budget allows.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(declare-const more Num)
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (le (budget g) more) :named no-less))
(assert (! (not (= (judge (grant (g-effect g) (g-scope g) (expires g) more) r) allowed)) :named goal))
