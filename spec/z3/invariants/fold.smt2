; What it means that d answers a request over n grants, whose single answers are
; cs[0] .. cs[n-1]; looked at through one of them, j. Either d is nobody, or d is
; the single answer of a grant that got further than effect name; no grant got
; further than d, and none before d's got as far. True for every j, it is the
; whole fold. The single answers are free here: nothing else of the law is used.
(define-fun answers ((d Decision) (n Num) (cs (Array Num Decision)) (j Num)) Bool
  (and
    (or (= d nobody)
        (and (le zero (index d)) (lt (index d) n)
             (= d (select cs (index d)))
             (not (= (verdict d) denied-effect-name))))
    (=> (and (le zero j) (lt j n))
        (and (<= (rank (verdict (select cs j))) (rank (verdict d)))
             (=> (lt j (index d)) (< (rank (verdict (select cs j))) (rank (verdict d))))))))
