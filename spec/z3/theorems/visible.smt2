; theorem: visible
; claim: A transition is visible iff some minted grant allows its access triple.
; rests on: decision invariants/fold
; encodings: int bv64
(declare-const d Decision)
(declare-const n Num)
(declare-const cs (Array Num Decision))
(declare-const t Triple)
(declare-const at Num)
(declare-const j Num)
(declare-const g Grant)
(assert (! (answers d n cs j) :named answers-all))
(assert (! (le zero j) :named j-is-a-place))
(assert (! (lt j n) :named j-in-the-list))
(assert (! (= (select cs j) (single j g (ask t at))) :named answer-of-j))
(assert (! (not (and
  (=> (= (judge g (ask t at)) allowed) (visible d))
  (=> (visible d) (= (verdict (select cs (index d))) allowed)))) :named goal))
