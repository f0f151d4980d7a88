; theorem: fold-absorbs
; claim: Once a grant allows, no later grant changes the answer: a fold may stop there.
; rests on: decision
; encodings: int bv64
(declare-const d Decision)
(declare-const i Num)
(declare-const g Grant)
(declare-const r Request)
(assert (! (= (verdict d) allowed) :named found))
(assert (! (not (= (consider d i g r) d)) :named goal))
