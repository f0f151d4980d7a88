; theorem: record-consistent
; claim: A lawful record debits its cost if it was allowed and nothing if it was denied, never leaves less than nothing of an allowed budget, and has failed only if it was allowed.
; rests on: decision record
; encodings: int bv64
(declare-const x EffectRecord)
(assert (! (not (= (arm x) unlawful)) :named is-lawful))
(assert (! (not (and
  (=> (not (rec-allowed x)) (= (rec-after x) (rec-before x)))
  (=> (rec-allowed x) (and (le zero (rec-after x)) (= (add (rec-after x) (rec-cost x)) (rec-before x))))
  (=> (rec-failed x) (rec-allowed x)))) :named goal))
