; theorem: journal-dated
; claim: No intent is ever of a later epoch than the current one, and epochs only grow.
; rests on: decision seeding journal invariants/journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(assert (! (dated s id) :named dated-before))
(assert (! (not (and (dated (after-event s e) id) (le (epoch s) (epoch (after-event s e))))) :named goal))
