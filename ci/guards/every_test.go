//go:build guards

package guards_test

import (
	"os"
	"slices"
	"testing"

	"world/ci/guards"
)

// users are those that the acts run as, ordinary ones by true.
func users() []bool {
	if os.Geteuid() == 0 {
		return []bool{false, true}
	}
	return []bool{false}
}

// controls are tests without a test below them that name no guard.
var controls = []string{"TestInterpreter/honest"}

// TestEveryGuard takes out all of them, one removal after the other. First nothing is
// taken out, and every act is stopped: each names a guard, and each guard has one.
func TestEveryGuard(t *testing.T) {
	stopped := map[guards.Guard][]string{}
	t.Run("none", func(t *testing.T) {
		dir := built(t, guards.Removal{})
		for _, ordinary := range users() {
			acts, err := guards.Run(dir, "^Test(Row|Doors|Repository|Interpreter)", ordinary)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range acts {
				if a.Result != "pass" || a.Guard == "" && !slices.Contains(controls, a.Name) {
					t.Errorf("%s (ordinary user: %v) ends with %q and names %q", a.Name, ordinary, a.Result, a.Guard)
				}
				if !ordinary {
					stopped[a.Guard] = append(stopped[a.Guard], a.Name)
				}
			}
		}
	})
	for _, r := range guards.Removals {
		t.Run(string(r.Guard), func(t *testing.T) { takeOut(t, r, stopped[r.Guard]) })
	}
}

// takeOut holds that the acts which are stopped by a guard, and all of them, get
// through without it, whoever runs them.
func takeOut(t *testing.T, r guards.Removal, stopped []string) {
	dir := built(t, r)
	for _, ordinary := range users() {
		acts, err := guards.Run(dir, r.Tests, ordinary)
		if err != nil {
			t.Fatal(err)
		}
		red, err := r.Red(acts)
		if err != nil || !slices.Equal(red, stopped) {
			t.Errorf("ordinary user: %v: of %q red are %q: %v", ordinary, stopped, red, err)
		}
		t.Logf("ordinary user: %v: red are %q", ordinary, red)
	}
}

// TestTheProofSees is row 17: enforcement is off, and no probe may say otherwise. The
// fence of the network is out and the proof at start in place. It names what got
// through, nothing is served, and so no act gets through either.
func TestTheProofSees(t *testing.T) {
	network, ok := guards.Of(guards.Network)
	if !ok {
		t.Fatal("nothing takes it out")
	}
	proof := func(e guards.Edit) bool { return e.File == "confine/probe.go" }
	network.Edits = slices.DeleteFunc(slices.Clone(network.Edits), proof)
	acts, err := guards.Run(built(t, network), network.Tests, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range acts {
		if a.Result != "fail" || a.Says("let it through") || !a.Says("no level namespaces: got through {Write:false Connect:true Fork:false}") {
			t.Errorf("%+v", a)
		}
	}
}
