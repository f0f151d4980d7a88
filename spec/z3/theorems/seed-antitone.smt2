; theorem: seed-antitone
; claim: Spending more never seeds more.
; rests on: decision seeding
; encodings: int bv64
(declare-const b Num)
(declare-const s Num)
(declare-const more Num)
(define-fun spent () Num (amount s))
(assert (! (and (le zero more) (le spent (sub maxint more))) :named a-spend-that-fits))
(assert (! (not (le (seed b (add spent more)) (seed b spent))) :named goal))
