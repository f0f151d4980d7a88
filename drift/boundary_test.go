package drift

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"

	"world/broker/law"
	"world/spec"
	"world/z3"
)

var update = flag.Bool("drift.update", false, "write the solver's boundary inputs to testdata")

// book is the law of this checkout.
func book(t testing.TB) *spec.Book {
	t.Helper()
	b, err := spec.Load(spec.Embedded())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The corpus holds exactly the corners that the solver finds reachable, so that
// a new boundary cannot be left out and an impossible one cannot stay.
func TestCorpusIsWhatTheSolverMakes(t *testing.T) {
	corners, err := Corners(context.Background(), book(t), z3.Z3("z3"), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var out bytes.Buffer
		for _, b := range corners {
			if err := json.NewEncoder(&out).Encode(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile("testdata/boundary.jsonl", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	all := len(names) * len(nows) * len(costs) * len(verdicts)
	t.Logf("%d of %d corners can be reached", len(corners), all)
	if len(corners) != len(corpus) {
		t.Fatalf("the corpus has %d inputs, the solver makes %d", len(corpus), len(corners))
	}
	for i := range corners {
		if corners[i].Goal != corpus[i].Goal {
			t.Fatalf("input %d is for %q, the solver makes one for %q", i, corpus[i].Goal, corners[i].Goal)
		}
	}
}

func TestCorpusAgrees(t *testing.T) {
	for _, solver := range []z3.Program{z3.Z3("z3"), z3.CVC5("cvc5")} {
		m, err := Open(context.Background(), book(t), solver, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		pairs := make([]Pair, len(corpus))
		seen := map[law.Verdict]int{}
		for i, b := range corpus {
			pairs[i] = b.Pair
		}
		judged, err := m.Judge(pairs)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range pairs {
			want := law.Judge(p.Grant, p.Request)
			seen[want]++
			if judged[i] != want {
				t.Errorf("%s: %+v: Go says %v, %s says %v", corpus[i].Goal, p, want, solver.Name, judged[i])
			}
		}
		for v := range verdicts {
			if seen[law.Verdict(v)] == 0 {
				t.Errorf("no corpus input for %s", law.Verdict(v).Label())
			}
		}
	}
}
