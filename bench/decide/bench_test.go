package decide

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"
)

// BenchmarkDecide measures every engine at every number of grants, on the request
// that the last grant allows and on the one that it denies, and ends with a table
// of nanoseconds and of how many times as long as World's law that is.
func BenchmarkDecide(b *testing.B) {
	took := map[string]float64{} // ns a decision, by name of the benchmark
	for _, e := range Engines {
		b.Run(e.Name, func(b *testing.B) {
			for _, n := range sizes {
				b.Run(fmt.Sprint(n), func(b *testing.B) {
					grants, allowed, denied := session(n)
					ask, err := e.Load(grants)
					if err != nil {
						b.Fatal(err)
					}
					b.Run("allowed", func(b *testing.B) { took[b.Name()] = decisions(b, ask(allowed), true) })
					b.Run("denied", func(b *testing.B) { took[b.Name()] = decisions(b, ask(denied), false) })
				})
			}
		})
	}
	fmt.Print("\n", table(b.Name(), took)) // a log of a benchmark with parts is not shown
}

// decisions measures one request and returns its nanoseconds.
func decisions(b *testing.B, answer Answer, want bool) float64 {
	b.ReportAllocs()
	for b.Loop() {
		if got, err := answer(); err != nil || got != want {
			b.Fatalf("%v, %v", got, err)
		}
	}
	return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}

// table writes a line an engine. What was not measured is left open.
func table(prefix string, took map[string]float64) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "ns a decision (times World's)\t")
	for _, answer := range []string{"allowed", "denied"} {
		for _, n := range sizes {
			fmt.Fprintf(w, "%s, %d\t", answer, n)
		}
	}
	for _, e := range Engines {
		fmt.Fprintf(w, "\n%s\t", e.Name)
		for _, answer := range []string{"allowed", "denied"} {
			for _, n := range sizes {
				at := func(engine string) float64 { return took[fmt.Sprintf("%s/%s/%d/%s", prefix, engine, n, answer)] }
				cell := "-"
				if at(e.Name) > 0 && at("world") > 0 {
					cell = fmt.Sprintf("%.0f (%.1f)", at(e.Name), at(e.Name)/at("world"))
				}
				fmt.Fprintf(w, "%s\t", cell)
			}
		}
	}
	fmt.Fprintln(w)
	w.Flush()
	return out.String()
}

// The table holds every measured number in its place, and says which are missing.
func TestTable(t *testing.T) {
	took := map[string]float64{"B/world/6/allowed": 20, "B/cedar/6/allowed": 800, "B/opa/6/denied": 9}
	lines := strings.Split(strings.TrimSpace(table("B", took)), "\n")
	if len(lines) != 1+len(Engines) {
		t.Fatalf("%d lines for %d engines", len(lines), len(Engines))
	}
	for line, want := range map[int]string{
		1: "world - 20 (1.0) - - - - - -",
		2: "cedar - 800 (40.0) - - - - - -",
		3: "opa - - - - - - - -",
		6: "macaroon - - - - - - - -",
	} {
		if got := strings.Join(strings.Fields(lines[line]), " "); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// World's law is asked without what the harness costs to be counted as its own.
func TestHarnessAllocatesNothing(t *testing.T) {
	grants, allowed, _ := session(6)
	ask, err := loadWorld(grants)
	if err != nil {
		t.Fatal(err)
	}
	answer := ask(allowed)
	if n := testing.AllocsPerRun(100, func() { _, _ = answer() }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
