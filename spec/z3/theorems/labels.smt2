; theorem: labels
; claim: The labels are the four fixed strings of the seed and the word allowed.
; rests on: decision
; encodings: int bv64
(assert (! (not (and
  (= (label denied-effect-name) "denied:effect-name")
  (= (label denied-scope) "denied:scope")
  (= (label denied-expired) "denied:expired")
  (= (label denied-budget) "denied:budget")
  (= (label allowed) "allowed"))) :named goal))
