; theorem: prefix-scopes-within
; claim: What a grant allows lies within its scope, and a scope ends at a slash.
; rests on: decision
; encodings: int bv64
(declare-const g Grant)
(declare-const r Request)
(assert (! (= (judge g r) allowed) :named allows))
(assert (! (not (and
  (str.prefixof (g-scope g) (r-scope r))
  (or (= (g-scope g) (r-scope r))
      (= (str.at (r-scope r) (str.len (g-scope g))) "/")))) :named goal))
