; theorem: journal-spend
; claim: No event takes the spend of a key above the largest budget granted for it, or below nothing.
; rests on: decision seeding journal invariants/journal
; encodings: int
; carried by: journal-exact journal-intend journal-largest seed-spend
(declare-const s State)
(declare-const e Event)
(declare-const k Key)
(assert (! (spend-bounded s k) :named bounded-before))
(assert (! (largest-known s (i-held e)) :named intents-grant-known))
(assert (! (not (spend-bounded (after-event s e) k)) :named goal))
