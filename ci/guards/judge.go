package guards

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Act is how a test that names a guard ended, or one that has no test below it.
type Act struct {
	Name   string
	Guard  Guard // "" for none
	Result string
	said   []string // lines of its own
	parent bool
}

// Says reports whether the act said something.
func (a Act) Says(text string) bool { return strings.Contains(strings.Join(a.said, ""), text) }

// Got reports whether the act got through, and it alone is why the test is red: a
// control that fails beside it says that the removal took more than the guard.
func (a Act) Got() error {
	got := false
	for _, line := range a.said {
		if strings.Contains(line, control) {
			return fmt.Errorf("%s: a control fails: %s", a.Name, strings.TrimSpace(line))
		}
		got = got || strings.Contains(line, string(a.Guard)+" "+through)
	}
	if a.Result != "fail" || !got {
		return fmt.Errorf("%s ends with %q, and does not say that it got through", a.Name, a.Result)
	}
	return nil
}

// Read reads what a test binary says, as test2json tells it, and returns the acts by
// name. Output that does not come to its end is an error.
func Read(from io.Reader) ([]Act, error) {
	found := map[string]*Act{}
	ended := false
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Test, Output, Key, Value string }
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, fmt.Errorf("%w: %s", err, lines.Bytes())
		}
		if event.Test == "" {
			ended = ended || event.Action == "pass" || event.Action == "fail"
			continue
		}
		a := found[event.Test]
		if a == nil {
			a = &Act{Name: event.Test}
			found[event.Test] = a
			for i, c := range event.Test {
				if above := found[event.Test[:i]]; c == '/' && above != nil {
					above.parent = true
				}
			}
		}
		switch event.Action {
		case "attr":
			if event.Key == attribute {
				a.Guard = Guard(event.Value)
			}
		case "output":
			a.said = append(a.said, event.Output)
		case "pass", "fail", "skip":
			a.Result = event.Action
		}
	}
	var acts []Act
	for _, a := range found {
		if a.Result == "" {
			ended = false
		}
		if a.Guard != "" || !a.parent {
			acts = append(acts, *a)
		}
	}
	if err := lines.Err(); err != nil || !ended || len(acts) == 0 {
		return nil, fmt.Errorf("the tests did not come to their end: %d acts, %v", len(acts), err)
	}
	slices.SortFunc(acts, func(a, b Act) int { return strings.Compare(a.Name, b.Name) })
	return acts, nil
}

// Red holds that every act which names the removal's guard got through.
func (r Removal) Red(acts []Act) (red []string, err error) {
	for _, a := range acts {
		if a.Guard != r.Guard {
			continue
		}
		if err := a.Got(); err != nil {
			return nil, err
		}
		if r.Harm && !a.Says(harm) {
			return nil, fmt.Errorf("%s does no harm", a.Name)
		}
		red = append(red, a.Name)
	}
	if len(red) == 0 {
		return nil, fmt.Errorf("no act names %q", r.Guard)
	}
	return red, nil
}
