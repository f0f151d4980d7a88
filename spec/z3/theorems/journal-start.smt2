; theorem: journal-start
; claim: An episode begins served, with nothing granted, spent, intended or run, and every invariant holds of it.
; rests on: decision seeding journal invariants/journal
; encodings: int bv64
(declare-const s State)
(declare-const k Key)
(declare-const h Held)
(declare-const by Text)
(declare-const id Text)
(assert (! (begins s k h by id) :named at-the-beginning))
(assert (! (not (and
  (spend-bounded s k) (largest-known s h) (tidy s id) (dated s id)
  (up s) (= (epoch s) zero) (not (select (grants s) h)) (not (select (ended s) by))
  (= (select (largest s) k) zero) (= (select (spent s) k) zero)
  (= (select (life s) id) absent) (= (select (made s) id) zero)
  (= (select (runs s) id) zero) (= (select (outcomes s) id) zero))) :named goal))
