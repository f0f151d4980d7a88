package policy

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"world/fault"
)

// maxTimeout is the ceiling of timeout_ms.
const maxTimeout = 24 * time.Hour

// capabilities are the names that allowed_caps and budgets may hold.
var capabilities = []string{"AI", "Clock", "Declassify", "Env", "FS", "IO", "Net", "Process", "Rand", "Stream"}

// Parse reads a policy file and refuses unknown keys and what contradicts itself.
func Parse(raw []byte) (Policy, error) {
	if len(raw) > MaxFile || !utf8.Valid(raw) {
		return Policy{}, bad("the file is too large or not UTF-8")
	}
	p := Policy{
		Entry: "main", TimeoutMillis: 5000,
		MaxSource: DefaultSource, MaxGraph: DefaultGraph, MaxOutput: DefaultOutput, MaxTransfer: DefaultTransfer,
	}
	meta, err := toml.Decode(string(raw), &p)
	if err != nil {
		return Policy{}, fault.Wrap("policy", fault.Invalid, err, "the file is not TOML of the expected types")
	}
	// The library folds the case of keys; AILANG's reader and this one do not.
	for _, key := range meta.Keys() {
		if len(key) == 1 && !slices.Contains(keys, key[0]) || len(key) > 1 && key[0] != "budgets" {
			return Policy{}, bad("unknown fields: [%s]", key)
		}
	}
	if p.SecurityMode == "" {
		p.SecurityMode = Restricted
	}
	for _, check := range []func() error{p.checkCaps, p.checkPlace, p.checkNumbers} {
		if err := check(); err != nil {
			return Policy{}, err
		}
	}
	return p, nil
}

func bad(format string, args ...any) error {
	return fault.New("policy", fault.Invalid, format, args...)
}

func (p Policy) checkCaps() error {
	if p.SecurityMode != Restricted && p.SecurityMode != Trusted {
		return bad(`security_mode %q is not one of "restricted", "trusted_host"`, p.SecurityMode)
	}
	for i, cap := range p.AllowedCaps {
		switch {
		case !slices.Contains(capabilities, cap):
			return bad("allowed_caps names unknown capability %q (known: %s)", cap, strings.Join(capabilities, ", "))
		case slices.Contains(p.AllowedCaps[:i], cap):
			return bad("allowed_caps lists %q twice", cap)
		case cap == "Env" && p.SecurityMode == Restricted:
			return bad("allowed_caps admits Env, which restricted mode has no confined adapter for")
		}
	}
	net := p.Allows("Net") || p.Allows("Stream")
	switch {
	case !p.Allows("FS"):
		return bad("allowed_caps does not admit FS")
	case p.Allows("Net") && len(p.NetAllow) == 0:
		return bad("policy admits Net but sets no net_allow")
	case len(p.NetAllow) > 0 && !net:
		return bad("net_allow is set but neither Net nor Stream is in allowed_caps")
	}
	return nil
}

// Allows reports whether a run may use a capability.
func (p Policy) Allows(cap string) bool { return slices.Contains(p.AllowedCaps, cap) }

func (p Policy) checkPlace() error {
	if !plainRoot(p.Sandbox) {
		return bad("fs_sandbox is not a clean absolute path")
	}
	for _, pattern := range p.DenyWrite {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" || path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), "..") {
			return bad("fs_deny_write pattern %q must be relative to fs_sandbox with no traversal", pattern)
		}
	}
	return nil
}

func (p Policy) checkNumbers() error {
	if p.TimeoutMillis <= 0 || p.TimeoutMillis > maxTimeout.Milliseconds() {
		return bad("timeout_ms must be positive and at most a day, got %d", p.TimeoutMillis)
	}
	for name, n := range map[string]int64{
		"max_source_bytes": p.MaxSource, "max_module_graph_bytes": p.MaxGraph,
		"max_output_bytes": p.MaxOutput, "max_fs_transfer_bytes": p.MaxTransfer,
	} {
		if n <= 0 {
			return bad("%s must be positive, got %d", name, n)
		}
	}
	for label, n := range p.Budgets {
		switch {
		case n < 0:
			return bad("budgets.%s must not be negative, got %d", label, n)
		case !p.Allows(label):
			return bad("budgets names %s, which is not in allowed_caps", label)
		}
	}
	return nil
}
