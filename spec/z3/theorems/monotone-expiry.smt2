; theorem: monotone-expiry
; claim: What a grant allows, the same grant with a later expiry allows.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(declare-const later Num)
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (le (expires g) later) :named no-earlier))
(assert (! (not (= (judge (grant (g-effect g) (g-scope g) later (budget g)) r) allowed)) :named goal))
