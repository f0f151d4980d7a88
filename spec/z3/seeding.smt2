; Seeding: what durable spend leaves of a minted budget, and how spend adds up.

; Never below zero, never above the budget, never wrapping.
(define-fun seed ((b Num) (spent Num)) Num
  (ite (le b zero) zero
  (ite (le spent zero) b
  (ite (le b spent) zero
       (sub b spent)))))
(define-fun seeded ((g Grant) (spent Num)) Grant
  (grant (g-effect g) (g-scope g) (expires g) (seed (budget g) spent)))

; Sums of spend: a negative amount is none, and the sum saturates.
(define-fun amount ((a Num)) Num (ite (lt a zero) zero a))
(define-fun plus ((a Num) (b Num)) Num
  (ite (lt (sub maxint (amount b)) (amount a)) maxint
       (add (amount a) (amount b))))

; What a request adds to the spend of the grant that decides it.
(define-fun spend ((g Grant) (r Request)) Num
  (ite (= (judge g r) allowed) (cost r) zero))
