; What holds in every state that lawful events reach. Each is about one key, one
; grant or one intent; true for all of them, it is the invariant.

; Spend of a key lies between nothing and the largest budget granted for it.
(define-fun spend-bounded ((s State) (k Key)) Bool
  (and (le zero (select (spent s) k)) (le (select (spent s) k) (select (largest s) k))))

; The largest budget is at least every grant's, and budgets are not negative.
(define-fun largest-known ((s State) (h Held)) Bool
  (=> (select (grants s) h)
      (and (le zero (budget (h-grant h))) (le (budget (h-grant h)) (select (largest s) (key-of h))))))

; An intent's life agrees with what was done about it: no handler without an
; intent, one run at most, one outcome at most, and none before its time.
(define-fun tidy ((s State) (id Text)) Bool
  (let ((l (select (life s) id)) (r (select (runs s) id)) (o (select (outcomes s) id)))
    (and (or (= r zero) (= r one))
         (or (= o zero) (= o one))
         (=> (or (= l absent) (= l intended)) (= r zero))
         (=> (or (= l absent) (open l)) (= o zero))
         (=> (= l started) (= r one))
         (=> (or (= l settled) (= l unclear)) (= o one)))))

; No intent is of a later epoch than the current one.
(define-fun dated ((s State) (id Text)) Bool
  (and (le zero (epoch s)) (le (select (made s) id) (epoch s))))
