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
	TimeoutMillis int64          `toml:"timeout_ms"` // of a run
	DenyWrite     []string       `toml:"fs_deny_write"`
	NetAllow      []string       `toml:"net_allow,omitempty"` // IP:port that a run may connect to
	Entry         string         `toml:"entry"`
	MaxSource     int64          `toml:"max_source_bytes,omitzero"`       // bytes of a program's file
	MaxGraph      int64          `toml:"max_module_graph_bytes,omitzero"` // bytes of all its modules
	MaxOutput     int64          `toml:"max_output_bytes,omitzero"`       // bytes of a run's stdout and stderr together
	MaxTransfer   int64          `toml:"max_fs_transfer_bytes,omitzero"`  // bytes of one file read or written
	Budgets       map[string]int `toml:"budgets"`                         // effects that one run may have
}

// keys are the exact names of the file's keys.
var keys = []string{
	"security_mode", "allowed_caps", "fs_sandbox", "timeout_ms", "fs_deny_write", "net_allow", "entry",
	"max_source_bytes", "max_module_graph_bytes", "max_output_bytes", "max_fs_transfer_bytes", "budgets",
}

// Security modes. Only runs with the capability Env are trusted, because restricted
// mode has no adapter for it; the jail around them is the same.
const (
	Restricted = "restricted"
	Trusted    = "trusted_host"
)

// Limits of a restricted policy that names none, in bytes.
const (
	DefaultSource   = 1 << 20
	DefaultGraph    = 16 << 20
	DefaultOutput   = 8 << 20
	DefaultTransfer = 8 << 20
)

// For returns the policy of an episode whose worktree is at root.
func For(root string) Policy {
	return Policy{
		SecurityMode: Restricted, AllowedCaps: []string{"IO", "FS"}, Sandbox: root,
		TimeoutMillis: 8000, DenyWrite: slices.Clone(denyWrite()), Entry: "main", Budgets: map[string]int{"FS": 1000},
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
