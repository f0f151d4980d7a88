; theorem: fold-allows
; claim: The answer over many grants is allowed iff some grant allows, and then the named grant is one that does.
; rests on: decision invariants/fold
; encodings: int bv64
(declare-const d Decision)
(declare-const n Num)
(declare-const cs (Array Num Decision))
(declare-const j Num)
(assert (! (answers d n cs j) :named answers-all))
(assert (! (le zero j) :named j-is-a-place))
(assert (! (lt j n) :named j-in-the-list))
(assert (! (not (and
  (=> (= (verdict (select cs j)) allowed) (= (verdict d) allowed))
  (=> (= (verdict d) allowed)
      (and (le zero (index d)) (lt (index d) n) (= (select cs (index d)) d))))) :named goal))
