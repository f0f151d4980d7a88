; Numbers as mathematical integers: no bound, no wrapping.
(define-sort Num () Int)
(define-fun zero () Num 0)
(define-fun one () Num 1)
(define-fun maxint () Num 9223372036854775807)
(define-fun le ((a Num) (b Num)) Bool (<= a b))
(define-fun lt ((a Num) (b Num)) Bool (< a b))
(define-fun add ((a Num) (b Num)) Num (+ a b))
(define-fun sub ((a Num) (b Num)) Num (- a b))
