; theorem: disjointness
; claim: No two verdicts share a label or a rank.
; rests on: decision
; encodings: int bv64
(declare-const v Verdict)
(declare-const w Verdict)
(assert (! (not (= v w)) :named different))
(assert (! (not (and
  (not (= (label v) (label w)))
  (not (= (rank v) (rank w))))) :named goal))
