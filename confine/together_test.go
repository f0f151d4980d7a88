package confine_test

import (
	"testing"

	"world/confine"
)

// TestLimitsTogether: memory that no limit of a process counts, and that of several
// processes, ends a program when it is too much together, and not before.
func TestLimitsTogether(t *testing.T) {
	for _, test := range []struct {
		name, each, processes string
		together              int64 // MiB
		bound                 confine.Bound
	}{
		{"made read only", "320", "1", 160, confine.MemoryBound},
		{"of several", "48", "6", 160, confine.MemoryBound},
		{"of one beyond the limit of each, and no other bound", "320", "1", 0, confine.Unbounded}, // control: what is counted is what nothing else counts
		{"of several within the bound", "16", "4", 160, confine.Unbounded},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSite(t, confine.Namespaces)
			spec := s.program("hoard", test.each, test.processes)
			spec.Limits.Together = test.together << 20
			if got := s.run(spec); got.Bound != test.bound || test.bound == confine.Unbounded && string(got.Stdout) != "ok " {
				t.Errorf("%+v", got)
			}
		})
	}
}
