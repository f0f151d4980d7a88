package guards_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"world/ci/guards"
)

const wall guards.Guard = "a wall"

// told writes events of test2json: a line each, of test, action and what is said.
func told(lines ...[3]string) string {
	var b strings.Builder
	for _, l := range lines {
		switch l[1] {
		case "attr":
			fmt.Fprintf(&b, `{"Action":"attr","Test":%q,"Key":"guard","Value":%q}`+"\n", l[0], l[2])
		case "output":
			fmt.Fprintf(&b, `{"Action":"output","Test":%q,"Output":%q}`+"\n", l[0], l[2])
		default:
			fmt.Fprintf(&b, `{"Action":%q,"Test":%q}`+"\n", l[1], l[0])
		}
	}
	return b.String()
}

func TestRed(t *testing.T) {
	run, names := [3]string{"TestA/1", "run"}, [3]string{"TestA/1", "attr", string(wall)}
	got, failed := [3]string{"TestA/1", "output", "a_test.go:1: a wall let it through: it"}, [3]string{"TestA/1", "fail"}
	end := [3]string{"", "fail"}
	for _, test := range []struct {
		name            string
		said            string
		ends, red, harm bool
	}{
		{"it got through", told(run, names, got, failed, end), true, true, false},
		{"it did harm", told(run, names, [3]string{"TestA/1", "output", "a wall let it through, and harm was done: it"}, failed, end), true, true, true},
		{"beside others", told([3]string{"TestA", "run"}, run, names, got, failed, [3]string{"TestA/2", "run"}, [3]string{"TestA/2", "attr", "a door"},
			[3]string{"TestA/2", "pass"}, [3]string{"TestA", "fail"}, end), true, true, false},
		{"it is stopped", told(run, names, [3]string{"TestA/1", "pass"}, [3]string{"", "pass"}), true, false, false},
		{"it says so and passes", told(run, names, got, [3]string{"TestA/1", "pass"}, [3]string{"", "pass"}), true, false, false},
		{"it fails for another reason", told(run, names, [3]string{"TestA/1", "output", "no space left"}, failed, end), true, false, false},
		{"another guard let it through", told(run, names, [3]string{"TestA/1", "output", "a door let it through: it"}, failed, end), true, false, false},
		{"a control fails too", told(run, names, got, [3]string{"TestA/1", "output", "a_test.go:2: control: it"}, failed, end), true, false, false},
		{"one of two is stopped", told(run, names, got, failed, [3]string{"TestA/2", "run"}, [3]string{"TestA/2", "attr", string(wall)}, [3]string{"TestA/2", "pass"}, end), true, false, false},
		{"nobody names it", told(run, got, failed, end), true, false, false},
		{"a crash", told(run, names, got, end), false, false, false},
		{"no end", told(run, names, got, failed), false, false, false},
		{"no test", told(end), false, false, false},
		{"no events", "panic: it\n", false, false, false},
	} {
		acts, err := guards.Read(strings.NewReader(test.said))
		if (err == nil) != test.ends {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil {
			continue
		}
		red, err := guards.Removal{Guard: wall}.Red(acts)
		if (err == nil) != test.red || test.red && !slices.Equal(red, []string{"TestA/1"}) {
			t.Errorf("%s: %v, %v", test.name, red, err)
		}
		if red, err := (guards.Removal{Guard: wall, Harm: true}).Red(acts); (err == nil) != test.harm {
			t.Errorf("%s, with harm: %v, %v", test.name, red, err)
		}
	}
}

// TestStops: an act cannot name a guard that nothing takes out.
func TestStops(t *testing.T) {
	for _, r := range guards.Removals {
		if heard := (&ear{TB: t}); heard.failed(r.Guard) {
			t.Errorf("%s is not known", r.Guard)
		}
	}
	if heard := (&ear{TB: t}); !heard.failed(wall) {
		t.Error("a guard that nothing takes out is known")
	}
}

// ear is a test that only listens.
type ear struct {
	testing.TB
	errors, attributes int
}

func (e *ear) Helper()               {}
func (e *ear) Errorf(string, ...any) { e.errors++ }
func (e *ear) Attr(_, _ string)      { e.attributes++ }

func (e *ear) failed(g guards.Guard) bool {
	g.Stops(e)
	return e.errors > 0 || e.attributes != 1
}
