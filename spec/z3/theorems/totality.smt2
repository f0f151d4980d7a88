; theorem: totality
; claim: Every request gets one of the five verdicts, and each of them has a label.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(define-fun v () Verdict (judge g r))
(assert (! (not (and
  (or (= v denied-effect-name) (= v denied-scope) (= v denied-expired) (= v denied-budget) (= v allowed))
  (or (= (label v) "denied:effect-name") (= (label v) "denied:scope") (= (label v) "denied:expired")
      (= (label v) "denied:budget") (= (label v) "allowed")))) :named goal))
