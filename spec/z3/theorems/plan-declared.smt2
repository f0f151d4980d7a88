; theorem: plan-declared
; claim: If an effect is found declared among the first n triples exactly when one of them equals it, so it is among n+1: by induction declared means equal to a declared triple in effect, scope and cost (L3).
; rests on: decision plan
; encodings: int bv64
(declare-const n Num)
(declare-const ds (Array Num Triple))
(declare-const t Triple)
(declare-const found Bool)
(declare-const at Num)
(declare-const j Num)
(define-fun next () Bool (declared-next found (select ds n) t))
(define-fun same ((d Triple)) Bool
  (and (= (t-effect d) (t-effect t)) (= (t-scope d) (t-scope t)) (= (t-cost d) (t-cost t))))
(assert (! (=> found (and (le zero at) (lt at n) (same (select ds at)))) :named found-is-there))
(assert (! (=> (and (le zero j) (lt j n) (same (select ds j))) found) :named there-is-found))
(assert (! (not (and
  (=> next (or (same (select ds n)) (and (le zero at) (lt at n) (same (select ds at)))))
  (=> (and (le zero j) (lt j (add n one)) (same (select ds j))) next))) :named goal))
