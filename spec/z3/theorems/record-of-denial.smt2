; theorem: record-of-denial
; claim: What is recorded of a denial is a lawful denied record of the request's cost and the named grant's budget.
; rests on: decision record
; encodings: int bv64
(declare-const d Decision)
(declare-const r Request)
(define-fun x () EffectRecord (record-denied d r))
(assert (! (not (and (= (arm x) arm-denied) (= (rec-cost x) (cost r)) (= (rec-before x) (before d)))) :named goal))
