; theorem: journal-key
; claim: Spend is kept by effect and scope: two grants share a key exactly when they agree in both.
; rests on: decision seeding journal
; encodings: int bv64
(declare-const h Held)
(declare-const i Held)
(define-fun same-effect () Bool (= (g-effect (h-grant h)) (g-effect (h-grant i))))
(define-fun same-scope () Bool (= (g-scope (h-grant h)) (g-scope (h-grant i))))
(assert (! (not (and
  (= (key-of h) (key (g-effect (h-grant h)) (g-scope (h-grant h))))
  (= (= (key-of h) (key-of i)) (and same-effect same-scope)))) :named goal))
