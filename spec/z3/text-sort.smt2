; Text as a sort with equality and nothing else: what is proved for it holds
; for every kind of text. Proofs use this one.
(declare-sort Text 0)
