; theorem: journal-largest
; claim: The largest budget granted for a key stays at least that of every grant.
; rests on: decision seeding journal invariants/journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const h Held)
(assert (! (largest-known s h) :named known-before))
(assert (! (not (and
  (largest-known (after-event s e) h)
  (le (select (largest s) (key-of h)) (select (largest (after-event s e)) (key-of h))))) :named goal))
