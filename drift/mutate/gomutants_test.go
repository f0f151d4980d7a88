package mutate_test

import (
	"slices"
	"strings"
	"testing"

	"world/drift/mutate"
	"world/drift/ssasmt"
)

const sampleLaw = `package law

type Verdict int

const (
	No Verdict = iota
	Yes
)

type Grant struct {
	Budget, Expires int64
	Name            string
}

func (v Verdict) Label() string {
	switch v {
	case No:
		return "no"
	}
	return "yes"
}

func Judge(g Grant, cost int64) Verdict {
	if cost < 0 || g.Budget < cost {
		return No
	}
	g.Budget -= cost
	return Yes
}

func Pair(a, b int64) Grant {
	return Grant{Budget: a, Expires: b}
}

func Swap(a, b int64) Grant {
	return Pair(b, a)
}
`

// Every operator makes its mutant of the sample.
func TestGoOperators(t *testing.T) {
	source := ssasmt.FromText("law", map[string][]byte{"law.go": []byte(sampleLaw)})
	mutants, err := mutate.Go(source)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.String())
	}
	for _, want := range []string{
		"law.go:6: Yes: No and Yes change places",
		"law.go:18: Verdict.Label: \"no\" becomes \"yes\"",
		"law.go:18: Verdict.Label: \"no\" becomes \"\"",
		"law.go:17: Verdict.Label: case No: … is dropped",
		"law.go:16: Verdict.Label: switch v { … is dropped",
		"law.go:24: Judge: < becomes <=",
		"law.go:24: Judge: < becomes >",
		"law.go:24: Judge: < becomes ==",
		"law.go:24: Judge: || becomes &&",
		"law.go:24: Judge: cost < 0 || g.Budget < cost becomes cost < 0",
		"law.go:24: Judge: cost < 0 || g.Budget < cost becomes g.Budget < cost",
		"law.go:24: Judge: 0 becomes 1",
		"law.go:24: Judge: 0 becomes (-1)",
		"law.go:24: Judge: Budget becomes Expires",
		"law.go:24: Judge: if cost < 0 || g.Budget < cost { … is dropped",
		"law.go:25: Judge: No becomes Yes",
		"law.go:25: Judge: return No is dropped",
		"law.go:27: Judge: -= becomes +=",
		"law.go:27: Judge: -= becomes =",
		"law.go:27: Judge: g.Budget -= cost is dropped",
		"law.go:32: Pair: a becomes b",
		"law.go:32: Pair: Budget and Expires change places",
		"law.go:32: Pair: Budget: a is dropped",
		"law.go:36: Swap: b and a change places",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no mutant %s", want)
		}
	}
	if t.Failed() {
		t.Log(strings.Join(got, "\n"))
	}
}

func TestGoMutantsCompileAndDiffer(t *testing.T) {
	source := ssasmt.FromText("law", map[string][]byte{"law.go": []byte(sampleLaw)})
	mutants, err := mutate.Go(source)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{sampleLaw: true}
	for _, m := range mutants {
		if seen[string(m.Text)] {
			t.Errorf("%s: a text met before", m)
		}
		seen[string(m.Text)] = true
		if _, err := source.With(m.File, m.Text).Check(); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
	if len(mutants) < 40 {
		t.Errorf("%d mutants", len(mutants))
	}
}

func TestOnlyTheFilesAskedForAreMutated(t *testing.T) {
	source := ssasmt.FromText("law", map[string][]byte{
		"law.go":  []byte(sampleLaw),
		"read.go": []byte("package law\n\nfunc Read(n int64) bool { return n > 3 }\n"),
	})
	mutants, err := mutate.Go(source, "read.go")
	if err != nil || len(mutants) == 0 {
		t.Fatalf("%d mutants, %v", len(mutants), err)
	}
	for _, m := range mutants {
		if m.File != "read.go" {
			t.Errorf("%s is of another file", m)
		}
	}
}

func TestSampleIsSpreadAndFixed(t *testing.T) {
	all := make([]int, 100)
	for i := range all {
		all[i] = i
	}
	got := mutate.Sample(all, 4)
	if want := []int{0, 25, 50, 75}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if n := len(mutate.Sample(all, 0)); n != 100 {
		t.Errorf("a sample of 0 has %d, want all", n)
	}
	if n := len(mutate.Sample(all, 200)); n != 100 {
		t.Errorf("a sample of more than all has %d", n)
	}
}
