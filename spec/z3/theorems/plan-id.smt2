; theorem: plan-id
; claim: An id stays lawful over one more byte exactly when it was and the byte is one of 0 to 9 or a to z, and its length is 1 to 16 (L2).
; rests on: decision plan
; encodings: int bv64
(declare-const so-far Bool)
(declare-const c (_ BitVec 8))
(declare-const n Num)
(define-fun digit () Bool (and (bvule #x30 c) (bvule c #x39)))
(define-fun letter () Bool (and (bvule #x61 c) (bvule c #x7a)))
(assert (! (not (and
  (= (id-next so-far c) (and so-far (or digit letter)))
  (not (id-byte #x2f)) (id-byte #x30) (id-byte #x39) (not (id-byte #x3a))
  (not (id-byte #x60)) (id-byte #x61) (id-byte #x7a) (not (id-byte #x7b))
  (not (id-byte #x41)) (not (id-byte #x00)) (not (id-byte #xff))
  (= (id-length n) (not (or (le n zero) (lt sixteen n)))))) :named goal))
