; theorem: fold-step
; claim: What answers over n grants answers over n+1 after considering one more: with fold-start, by induction, the fold answers over any list.
; rests on: decision invariants/fold
; encodings: int bv64
(declare-const d Decision)
(declare-const n Num)
(declare-const cs (Array Num Decision))
(declare-const j Num)
(declare-const g Grant)
(declare-const r Request)
(assert (! (and (le zero n) (lt n maxint)) :named a-length-with-room))
(assert (! (answers d n cs j) :named answers-so-far))
(assert (! (= (select cs n) (single n g r)) :named answer-of-the-next))
(assert (! (not (answers (consider d n g r) (add n one) cs j)) :named goal))
