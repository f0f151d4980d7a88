; theorem: journal-session
; claim: A new session or a further grant changes no spend, and a revoked session gets no grant and no intent.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const by Text)
(define-fun t () State (after-event s e))
(assert (! (or (and ((_ is mint) e) (= (h-session (m-held e)) by)) (and ((_ is revoke) e) (= (v-session e) by))
               (and ((_ is intend) e) (= (h-session (i-held e)) by))) :named about-a-session))
(assert (! (not (and
  (=> (not ((_ is intend) e)) (and (= (spent t) (spent s)) (= (life t) (life s)) (= (runs t) (runs s)) (= (outcomes t) (outcomes s))))
  (=> ((_ is mint) e) (= (may s e) (and (up s) (not (select (ended s) by)) (le zero (budget (h-grant (m-held e)))))))
  (=> (and ((_ is mint) e) (may s e)) (select (grants t) (m-held e)))
  (=> ((_ is revoke) e) (= (select (ended t) by) (or (up s) (select (ended s) by))))
  (=> (select (ended s) by) (and (select (ended t) by) (= (grants t) (grants s)) (= (spent t) (spent s)))))) :named goal))
