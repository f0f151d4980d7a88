package policy

import (
	"net/netip"
	"slices"
	"strconv"

	"world/fault"
)

// fsBudget is how many file operations one run may have.
const fsBudget = 1000

// RunCaps are the capabilities that a run may ask for, sorted.
var RunCaps = []string{"Declassify", "Env", "FS", "IO", "Net"}

// ForRun returns the policy of one run with these capabilities, which are sorted; nil
// is what For grants. FS is always listed, with a budget of nothing unless it was
// asked for, because without it the program's own file could not be bound to the
// worktree. Env needs the trusted mode; its limits and its protection of .git, which
// restricted mode has of itself, are written out.
func ForRun(root string, caps []string, netAllow []string) Policy {
	p := For(root)
	if caps == nil {
		return p
	}
	p.AllowedCaps = slices.Clone(caps)
	if !slices.Contains(caps, "FS") {
		p.AllowedCaps = append(p.AllowedCaps, "FS")
		p.Budgets = map[string]int{"FS": 0}
	}
	if slices.Contains(caps, "Net") {
		p.NetAllow = slices.Clone(netAllow)
	}
	if slices.Contains(caps, "Env") {
		p.SecurityMode = Trusted
		p.DenyWrite = append([]string{gitDir + "/**"}, p.DenyWrite...)
		p.MaxSource, p.MaxGraph, p.MaxOutput, p.MaxTransfer = DefaultSource, DefaultGraph, DefaultOutput, DefaultTransfer
	}
	return p
}

// Granted are the capabilities of which something may be used: those that are listed
// only so that a file can be bound to the worktree, with a budget of nothing, are not.
func (p Policy) Granted() []string {
	granted := slices.Clone(p.AllowedCaps)
	return slices.DeleteFunc(granted, func(cap string) bool {
		n, counted := p.Budgets[cap]
		return counted && n == 0
	})
}

// ParseNetAllow reads one address that runs with Net may connect to: a loopback IP
// in its canonical form, and a port from 1.
func ParseNetAllow(text string) (string, error) {
	a, err := netip.ParseAddrPort(text)
	if err != nil || !a.Addr().IsLoopback() || a.Addr().Is4In6() || a.Addr().Zone() != "" || a.Port() == 0 || a.String() != text {
		return "", fault.Wrap("policy: net allow", fault.Invalid, err, "%s is not a canonical loopback IP and port from 1 to 65535", strconv.Quote(text))
	}
	return text, nil
}
