; theorem: replay-step
; claim: If the live budget is the seed of the spend, it still is after any request: by induction replaying the spend gives the live budget.
; rests on: decision seeding
; encodings: int
; carried by: transfer-seed transfer-plus transfer-wrap debit-seeds
(declare-const minted Num)
(declare-const spent Num)
(declare-const g Grant)
(declare-const r Request)
(assert (! (le minted maxint) :named minted-fits))
(assert (! (= (budget g) (seed minted spent)) :named live-is-seeded))
(assert (! (not (= (budget (debit g r)) (seed minted (plus spent (spend g r))))) :named goal))
