; theorem: fold-first
; claim: The named grant got as far as any, and no earlier one got as far.
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
  (<= (rank (verdict (select cs j))) (rank (verdict (select cs (index d)))))
  (=> (= (rank (verdict (select cs j))) (rank (verdict (select cs (index d)))))
      (le (index d) j)))) :named goal))
