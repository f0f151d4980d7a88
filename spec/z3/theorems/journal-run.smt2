; theorem: journal-run
; claim: A handler is called exactly when its intent is durable, current and not yet started, and once.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(assert (! ((_ is run) e) :named a-run))
(assert (! (= (r-id e) id) :named of-this-intent))
(assert (! (not (and
  (= (may s e) (and (up s) (= (r-under e) (epoch s)) (= (select (life s) id) intended) (= (select (made s) id) (epoch s))))
  (=> (may s e) (and (= (select (life (after-event s e)) id) started)
                     (= (select (runs (after-event s e)) id) (add (select (runs s) id) one)))))) :named goal))
