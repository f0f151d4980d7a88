; theorem: journal-frame
; claim: An event changes what it is about and nothing else: other keys, grants, sessions and intents stay as they were.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const k Key)
(declare-const h Held)
(declare-const by Text)
(declare-const id Text)
(define-fun t () State (after-event s e))
(define-fun about-key () Bool (or (and ((_ is mint) e) (= (key-of (m-held e)) k)) (and ((_ is intend) e) (= (key-of (i-held e)) k))))
(define-fun about-id () Bool
  (or (and ((_ is intend) e) (= (i-id e) id)) (and ((_ is run) e) (= (r-id e) id))
      (and ((_ is finish-effect) e) (= (f-id e) id)) (and ((_ is reconcile) e) (= (c-id e) id))))
(assert (! (not (and
  (=> (not about-key) (and (= (select (largest t) k) (select (largest s) k)) (= (select (spent t) k) (select (spent s) k))))
  (=> ((_ is intend) e) (= (largest t) (largest s)))
  (=> (not (and ((_ is mint) e) (= (m-held e) h))) (= (select (grants t) h) (select (grants s) h)))
  (=> (not (and ((_ is revoke) e) (= (v-session e) by))) (= (select (ended t) by) (select (ended s) by)))
  (=> (not about-id) (and (= (select (life t) id) (select (life s) id)) (= (select (made t) id) (select (made s) id))
                          (= (select (runs t) id) (select (runs s) id)) (= (select (outcomes t) id) (select (outcomes s) id))))
  (=> (not ((_ is intend) e)) (= (made t) (made s)))
  (=> (not ((_ is run) e)) (= (runs t) (runs s)))
  (=> (not ((_ is finish-effect) e)) (= (outcomes t) (outcomes s))))) :named goal))
