; theorem: journal-intend
; claim: An intent becomes durable exactly when the daemon is up, the holder current, the name new, the session not ended, and the law allows the request on the seeded grant.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(define-fun h () Held (i-held e))
(assert (! ((_ is intend) e) :named an-intent))
(assert (! (= (i-id e) id) :named of-this-name))
(assert (! (not (and
  (= (may s e) (and (up s) (= (i-under e) (epoch s)) (= (select (life s) id) absent) (select (grants s) h)
                    (not (select (ended s) (h-session h)))
                    (= (judge (seeded (h-grant h) (select (spent s) (key-of h))) (i-asked e)) allowed)))
  (=> (may s e) (and (= (select (life (after-event s e)) id) intended)
                     (= (select (made (after-event s e)) id) (epoch s)))))) :named goal))
