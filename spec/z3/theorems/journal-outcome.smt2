; theorem: journal-outcome
; claim: An outcome is written exactly when its intent is open and current, and it says whether the outcome is known.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(assert (! ((_ is finish-effect) e) :named an-outcome))
(assert (! (= (f-id e) id) :named of-this-intent))
(assert (! (not (and
  (= (may s e) (and (up s) (= (f-under e) (epoch s)) (or (= (select (life s) id) intended) (= (select (life s) id) started))
                    (= (select (made s) id) (epoch s))))
  (=> (may s e) (and (= (select (life (after-event s e)) id) (ite (f-known e) settled unclear))
                     (= (select (outcomes (after-event s e)) id) (add (select (outcomes s) id) one)))))) :named goal))
