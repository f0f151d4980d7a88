; theorem: spend-of-denial
; claim: A denied request spends nothing.
; rests on: decision seeding
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(assert (! (not (= (judge g r) allowed)) :named request-denied))
(assert (! (not (= (spend g r) zero)) :named goal))
