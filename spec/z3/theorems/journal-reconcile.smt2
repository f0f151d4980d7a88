; theorem: journal-reconcile
; claim: An operator closes exactly what is indeterminate, once, and that refunds nothing, runs nothing and writes no outcome.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const s State)
(declare-const e Event)
(declare-const id Text)
(define-fun l () Life (select (life s) id))
(define-fun t () State (after-event s e))
(assert (! ((_ is reconcile) e) :named a-reconciliation))
(assert (! (= (c-id e) id) :named of-this-intent))
(assert (! (not (and
  (= (may s e) (and (up s) (= (c-under e) (epoch s))
                    (or (= l unclear) (and (or (= l intended) (= l started)) (not (= (select (made s) id) (epoch s)))))))
  (=> (may s e) (= (select (life t) id) closed))
  (= (spent t) (spent s)) (= (runs t) (runs s)) (= (outcomes t) (outcomes s)) (= (made t) (made s)))) :named goal))
