; theorem: plan-once
; claim: Counting an id over the effects grows exactly where the id is met: by induction the count is the number of effects with it, and one means unique (L2).
; rests on: decision plan
; encodings: int bv64
(declare-const met Num)
(declare-const here Text)
(declare-const id Text)
(assert (! (not (and
  (=> (= here id) (= (met-next met here id) (add met one)))
  (=> (not (= here id)) (= (met-next met here id) met))
  (= (met-once met) (= (sub met one) zero)))) :named goal))
