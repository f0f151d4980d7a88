; Numbers as Go's int64: 64 bits, two's complement, wrapping.
(define-sort Num () (_ BitVec 64))
(define-fun zero () Num #x0000000000000000)
(define-fun one () Num #x0000000000000001)
(define-fun maxint () Num #x7fffffffffffffff)
(define-fun le ((a Num) (b Num)) Bool (bvsle a b))
(define-fun lt ((a Num) (b Num)) Bool (bvslt a b))
(define-fun add ((a Num) (b Num)) Num (bvadd a b))
(define-fun sub ((a Num) (b Num)) Num (bvsub a b))
