; theorem: journal-crash
; claim: Crash, restart and takeover change no budget and no row: they stop and start service and move the epoch.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(define-fun t () State (after-event s e))
(assert (! (or (= e crash) (= e restart) (= e takeover)) :named only-service))
(assert (! (not (and
  (= (grants t) (grants s)) (= (ended t) (ended s)) (= (largest t) (largest s)) (= (spent t) (spent s))
  (= (life t) (life s)) (= (made t) (made s)) (= (runs t) (runs s)) (= (outcomes t) (outcomes s))
  (= (epoch t) (ite (and (may s e) (not (= e crash))) (add (epoch s) one) (epoch s)))
  (= (up t) (ite (may s e) (or (= e restart) (and (= e takeover) (up s))) (up s))))) :named goal))
