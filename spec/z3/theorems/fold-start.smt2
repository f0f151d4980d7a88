; theorem: fold-start
; claim: Over no grants the answer is effect-name: it names no grant, and budget and remainder are zero.
; rests on: decision invariants/fold
; encodings: int bv64
(declare-const cs (Array Num Decision))
(declare-const j Num)
(assert (! (not (and
  (answers nobody zero cs j)
  (= (verdict nobody) denied-effect-name)
  (= (index nobody) (sub zero one))
  (= (before nobody) zero)
  (= (after nobody) zero))) :named goal))
