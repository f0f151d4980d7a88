; theorem: journal-exact
; claim: Spend changes only by a lawful intent, only for its key, and by exactly its cost, which is not negative.
; rests on: decision seeding journal invariants/journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const k Key)
(define-fun paid-here () Bool (and ((_ is intend) e) (may s e) (= (key-of (i-held e)) k)))
(assert (! (spend-bounded s k) :named bounded-before))
(assert (! (le (select (largest s) k) maxint) :named largest-fits))
(assert (! (largest-known s (i-held e)) :named intents-grant-known))
(assert (! (not (and
  (= (select (spent (after-event s e)) k) (ite paid-here (add (select (spent s) k) (cost (i-asked e))) (select (spent s) k)))
  (=> paid-here (le zero (cost (i-asked e)))))) :named goal))
