; theorem: journal-service
; claim: A daemon that is down does nothing until it restarts; a replay is always lawful; epochs move by restart of what is down and by takeover, while there is room.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(assert (! (not (and
  (=> (and (not (up s)) (not (= e restart)) (not (= e takeover))) (= (after-event s e) s))
  (may s replay)
  (= (may s crash) (up s)) (= (may s seed-grants) (up s))
  (= (may s restart) (and (not (up s)) (lt (epoch s) maxint)))
  (= (may s takeover) (lt (epoch s) maxint))
  (=> ((_ is revoke) e) (= (may s e) (up s)))
  (=> ((_ is deny) e) (= (may s e) (and (up s) (not (allows s (d-held e) (d-asked e)))))))) :named goal))
