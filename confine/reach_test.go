package confine

import (
	"errors"
	"strings"
	"testing"

	"world/fault"
)

// TestFindings: what is missing says what was there instead, and how to get it; a
// use that needs it is not admitted.
func TestFindings(t *testing.T) {
	j := &Jail{}
	denied := fault.Wrap("x", fault.Unavailable, errors.New("bwrap: no permissions\n"), "the jail could not be built")
	absent := fault.Wrap("x", fault.Unavailable, errNoBubblewrap, "")
	program, file := Use{"programs", Namespaces, true}, Use{"files", Landlock, false}
	tests := []struct {
		name           string
		reach          Reach
		programs, file bool
		says           []string // of details and remedies
	}{
		{"all", Reach{Level: Namespaces}, true, true, []string{"level namespaces", "private layer", "memory of each process"}},
		{"no overlay", Reach{Level: Namespaces, overlay: "no such device"}, false, true, []string{"no such device", "overlayfs"}},
		{"forbidden namespaces", Reach{Level: Landlock, passed: []Finding{j.missed(Namespaces, attack{}, denied)}}, false, true,
			[]string{"bwrap: no permissions", "user.max_user_namespaces", "level landlock"}},
		{"no bubblewrap", Reach{Level: Landlock, passed: []Finding{j.missed(Namespaces, attack{}, absent)}}, false, true,
			[]string{"not installed", "apt-get install bubblewrap"}},
		{"nothing", Reach{Level: Process, passed: []Finding{j.missed(Namespaces, attack{}, absent), j.missed(Landlock, attack{Write: true}, nil)}},
			false, false, []string{"got through {Write:true", "Linux 6.2"}},
	}
	for _, test := range tests {
		if test.reach.Meets(program) != test.programs || test.reach.Meets(file) != test.file {
			t.Errorf("%s: admits programs %t, files %t", test.name, test.reach.Meets(program), test.reach.Meets(file))
		}
		text := test.reach.String()
		for _, f := range test.reach.Findings() {
			if text += "\n" + f.What + "\n" + f.Detail + "\n" + f.Remedy; f.Detail == "" || f.Held != (f.Remedy == "") {
				t.Errorf("%s: %+v", test.name, f)
			}
		}
		for _, says := range test.says {
			if !strings.Contains(text, says) {
				t.Errorf("%s does not say %q: %s", test.name, says, text)
			}
		}
	}
}

// TestNobodyWalksIntoARelativePath, and to tell so takes no time.
func TestNobodyWalksIntoARelativePath(t *testing.T) {
	if t.Chdir("/"); !Reachable("/usr/bin", UserOf("nobody")) || Reachable("usr/bin", UserOf("nobody")) || Reachable("bin", UserOf("nobody")) {
		t.Error("a relative path can be walked to")
	}
}
