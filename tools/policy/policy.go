// Package policy is the file that tells a tool binary what it may do in one
// episode: how it is rendered by the daemon, and how world-tool reads it.
//
// It promises that a file it renders is read by AILANG's tool binary and by
// world-tool alike, and that reading refuses every key it does not know. Names
// are protected whatever their case or spelling, at any depth, and whether they
// exist or not.
//
// Source: reference/world.md §7.5, reference/tool-contract.md §3.
package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"world/fault"
)

// MaxFile is the largest policy file that is read, in bytes.
const MaxFile = 64 << 10

// Policy is the file's content, keys as AILANG names them.
type Policy struct {
	SecurityMode  string         `toml:"security_mode"`
	AllowedCaps   []string       `toml:"allowed_caps"`
	Sandbox       string         `toml:"fs_sandbox"` // absolute path of the worktree
	TimeoutMillis int64          `toml:"timeout_ms"`
	DenyWrite     []string       `toml:"fs_deny_write"`
	Entry         string         `toml:"entry"`
	MaxTransfer   int64          `toml:"max_fs_transfer_bytes,omitzero"` // bytes of one file read or written
	Budgets       map[string]int `toml:"budgets"`
}

// keys are the exact names of the file's keys.
var keys = []string{
	"security_mode", "allowed_caps", "fs_sandbox", "timeout_ms", "fs_deny_write", "entry", "max_fs_transfer_bytes", "budgets",
}

// Restricted is the only security mode that is served.
const Restricted = "restricted"

// DefaultTransfer is the transfer limit of a policy that names none, in bytes.
const DefaultTransfer = 8 << 20

// For returns the policy of an episode whose worktree is at root.
func For(root string) Policy {
	return Policy{
		SecurityMode: Restricted, AllowedCaps: []string{"IO", "FS"}, Sandbox: root,
		TimeoutMillis: 8000, DenyWrite: denyWrite(), Entry: "main", Budgets: map[string]int{"FS": 1000},
	}
}

// Render returns the file's bytes. Invalid when the root cannot stand in a policy.
func (p Policy) Render() ([]byte, error) {
	if !plainRoot(p.Sandbox) {
		return nil, fault.New("policy: render", fault.Invalid, "a worktree needs a clean absolute path of printable characters without quotes")
	}
	var b bytes.Buffer
	encoder := toml.NewEncoder(&b)
	encoder.Indent = ""
	if err := encoder.Encode(p); err != nil {
		return nil, fault.Wrap("policy: render", fault.Internal, err, "")
	}
	return b.Bytes(), nil
}

// Parse reads a policy file and refuses unknown keys and what is not restricted.
func Parse(raw []byte) (Policy, error) {
	bad := func(format string, args ...any) (Policy, error) {
		return Policy{}, fault.New("policy", fault.Invalid, format, args...)
	}
	if len(raw) > MaxFile || !utf8.Valid(raw) {
		return bad("the file is too large or not UTF-8")
	}
	p := Policy{Entry: "main", TimeoutMillis: 5000, MaxTransfer: DefaultTransfer}
	meta, err := toml.Decode(string(raw), &p)
	if err != nil {
		return Policy{}, fault.Wrap("policy", fault.Invalid, err, "the file is not TOML of the expected types")
	}
	// The library folds the case of keys; AILANG's reader and this one do not.
	for _, key := range meta.Keys() {
		if len(key) == 1 && !slices.Contains(keys, key[0]) || len(key) > 1 && key[0] != "budgets" {
			return bad("unknown fields: [%s]", key)
		}
	}
	if p.SecurityMode == "" {
		p.SecurityMode = Restricted
	}
	switch {
	case p.SecurityMode != Restricted:
		return bad("security_mode %q is not served here", p.SecurityMode)
	case !slices.Contains(p.AllowedCaps, "FS"):
		return bad("allowed_caps does not admit FS")
	case !plainRoot(p.Sandbox):
		return bad("fs_sandbox is not a clean absolute path")
	case p.TimeoutMillis <= 0 || p.MaxTransfer <= 0:
		return bad("timeout_ms and max_fs_transfer_bytes must be positive")
	}
	for _, pattern := range p.DenyWrite {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" || path.IsAbs(pattern) || slices.Contains(strings.Split(pattern, "/"), "..") {
			return bad("fs_deny_write pattern %q must be relative to fs_sandbox with no traversal", pattern)
		}
	}
	return p, nil
}

// Digest is the policy's name in answers: the sha256 of the file's bytes.
func Digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// plainRoot reports whether a path can stand in a policy without quoting.
func plainRoot(root string) bool {
	return path.IsAbs(root) && path.Clean(root) == root && root != "/" && utf8.ValidString(root) &&
		!strings.ContainsAny(root, `"\`) && strings.IndexFunc(root, unprintable) < 0
}
