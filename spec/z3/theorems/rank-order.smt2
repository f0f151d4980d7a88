; theorem: rank-order
; claim: Verdicts rank from 0 to 4 by progress through the checks: effect name, scope, expired, budget, allowed.
; rests on: decision
; encodings: int bv64
(assert (! (not (and
  (= (rank denied-effect-name) 0)
  (= (rank allowed) 4)
  (< (rank denied-effect-name) (rank denied-scope))
  (< (rank denied-scope) (rank denied-expired))
  (< (rank denied-expired) (rank denied-budget))
  (< (rank denied-budget) (rank allowed)))) :named goal))
