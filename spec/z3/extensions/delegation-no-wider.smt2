; theorem: delegation-no-wider
; claim: Once a link of the chain denies, no later grant allows.
; rests on: decision
; encodings: int bv64
(declare-const d Decision)
(declare-const i Num)
(declare-const g Grant)
(declare-const r Request)
(assert (! (or (= (verdict d) denied-expired) (= (verdict d) denied-budget)) :named a-link-denied))
(assert (! (not (not (= (verdict (consider d i g r)) allowed))) :named goal))
