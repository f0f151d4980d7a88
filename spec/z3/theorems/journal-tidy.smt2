; theorem: journal-tidy
; claim: No effect without a durable intent, at most one run and one outcome an intent: every event keeps an intent's life in agreement with what was done.
; rests on: decision seeding journal invariants/journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(assert (! (tidy s id) :named tidy-before))
(assert (! (not (tidy (after-event s e) id)) :named goal))
