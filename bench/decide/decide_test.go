package decide

import (
	"math/rand/v2"
	"testing"

	"world/broker/law"
)

// six is the preset of a coding session: the request matches the last grant.
func six() ([]law.Grant, law.Request) {
	names := []law.Effect{"Ailang.Check", "Ailang.Run", "Ailang.Discover", "Ailang.CLI", "Workspace.Read", "Workspace.Write"}
	grants := make([]law.Grant, len(names))
	for i, name := range names {
		grants[i] = law.Grant{Effect: name, Scope: "worktree", ExpiresAt: 2_000_000_000, Budget: 50}
	}
	return grants, law.Request{Effect: "Workspace.Write", Scope: "worktree", Cost: 1, Now: 1_900_000_000}
}

func TestCedarAgrees(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	effects, scopes := []law.Effect{"a", "b"}, []law.Scope{"x", "y"}
	number := func() int64 { return rng.Int64N(5) - 1 }
	allowed := 0
	for range 2000 {
		grants := make([]law.Grant, rng.IntN(7))
		for i := range grants {
			grants[i] = law.Grant{Effect: effects[rng.IntN(2)], Scope: scopes[rng.IntN(2)], ExpiresAt: number(), Budget: number()}
		}
		r := law.Request{Effect: effects[rng.IntN(2)], Scope: scopes[rng.IntN(2)], Cost: number(), Now: number()}
		cedar, err := NewCedar(grants)
		if err != nil {
			t.Fatal(err)
		}
		want := law.Decide(grants, r).Verdict == law.Allowed
		if got := cedar.Allows(Ask(r)); got != want {
			t.Fatalf("cedar says %v, the law %v, on %+v over %+v", got, want, r, grants)
		}
		if want {
			allowed++
		}
	}
	if allowed < 50 {
		t.Fatalf("only %d requests allowed: the comparison finds too little", allowed)
	}
}

func BenchmarkDecide6(b *testing.B) {
	grants, r := six()
	b.Run("world", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if law.Decide(grants, r).Verdict != law.Allowed {
				b.Fatal("denied")
			}
		}
	})
	b.Run("cedar", func(b *testing.B) {
		cedar, err := NewCedar(grants)
		if err != nil {
			b.Fatal(err)
		}
		ask := Ask(r)
		b.ReportAllocs()
		for b.Loop() {
			if !cedar.Allows(ask) {
				b.Fatal("denied")
			}
		}
	})
}
