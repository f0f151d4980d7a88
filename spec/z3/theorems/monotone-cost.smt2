; theorem: monotone-cost
; claim: What a grant allows at some cost, it allows at any smaller cost that is not negative.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(declare-const less Num)
(assert (! (= (judge g r) allowed) :named request-allowed))
(assert (! (le less (cost r)) :named no-more))
(assert (! (le zero less) :named not-negative))
(assert (! (not (= (judge g (request (r-effect r) (r-scope r) less (now r))) allowed)) :named goal))
