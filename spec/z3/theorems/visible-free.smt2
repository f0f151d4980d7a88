; theorem: visible-free
; claim: A live grant of budget zero still shows a transition whose access costs nothing.
; rests on: decision
; encodings: int bv64
(declare-const t Triple)
(declare-const at Num)
(declare-const until Num)
(assert (! (le zero at) :named not-before-time))
(assert (! (lt at until) :named not-expired))
(assert (! (= (t-cost t) zero) :named free))
(assert (! (not (and
  (= (judge (grant (t-effect t) (t-scope t) until zero) (ask t at)) allowed)
  (= (ask t at) (request (t-effect t) (t-scope t) zero at)))) :named goal))
