; theorem: plus-exact
; claim: A sum that fits is exact, one that does not is the largest int64, and a negative amount is none.
; rests on: decision seeding
; encodings: int bv64
(declare-const a Num)
(declare-const b Num)
(assert (! (not (and
  (=> (and (le zero a) (le zero b) (le a (sub maxint b))) (= (plus a b) (add a b)))
  (=> (and (le zero a) (le zero b) (lt (sub maxint b) a)) (= (plus a b) maxint))
  (=> (lt a zero) (= (plus a b) (plus zero b)))
  (=> (lt b zero) (= (plus a b) (plus a zero))))) :named goal))
