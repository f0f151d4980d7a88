; theorem: denial-keeps
; claim: A denied request changes nothing of the grant.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(assert (! (not (= (judge g r) allowed)) :named request-denied))
(assert (! (not (= (debit g r) g)) :named goal))
