package law

// maxSpend is where sums of spend saturate.
const maxSpend int64 = 1<<63 - 1

// Seed returns the budget left of a minted budget after durable spend. It never
// wraps: a negative budget is none, and negative spend counts as none
// (theorems "seed-range", "seed-antitone", "seed-exact").
func Seed(budget, spent int64) int64 {
	if budget <= 0 {
		return 0
	}
	if spent <= 0 {
		return budget
	}
	if spent >= budget {
		return 0
	}
	return budget - spent
}

// Plus adds two amounts of spend and saturates at the largest int64. Negative
// amounts count as none (theorem "plus-exact").
func Plus(a, b int64) int64 {
	if a < 0 {
		a = 0
	}
	if b < 0 {
		b = 0
	}
	if a > maxSpend-b {
		return maxSpend
	}
	return a + b
}
