// Package runner is the verb "run": one program of the worktree, under a policy. It
// runs inside the jail, as a program that may start processes.
//
// It speaks the contract of "ailang run --policy" (reference/tool-contract.md §4) for
// .star, which is built in, and .py, which the system's python3 runs. It promises
// that nothing of a program that is refused runs; that the program's time and output
// are bounded as the policy says; that the last line of stderr is its own word,
// however the program's output ends; and that what the policy asks for and a language
// gives no hold on is named as unenforced. It does not bound what a Python program
// does to files: that is the fence's, and of the layer over the worktree.
package runner

import (
	"encoding/json"
	"fmt"
	"io"

	"world/tools/policy"
)

// Verb is the command's name.
const Verb = "run"

// Exit codes besides the program's own.
const (
	exitRefused = 1 // the run as it is asked for is refused, or the program cannot be read
	exitDenied  = 2 // the policy does not admit the program
	exitLimit   = 3 // a limit ended it
)

// Kinds of a decision that denies. Those of AILANG that can occur here, and one of ours.
const (
	readFailed   = "read_failed"
	tooLarge     = "source_too_large"
	unchecked    = "typecheck_failed"
	violation    = "policy_violation"
	notAFunction = "entry_not_a_function"
	unsupported  = "unsupported_program" // no interpreter for it here
)

// decision says whether a program is admitted, and why not.
type decision struct {
	OK               bool     `json:"ok"`
	ErrorKind        string   `json:"error_kind,omitempty"`
	Message          string   `json:"message,omitempty"`
	DeclaredEffects  []string `json:"declared_effects"` // null: nothing is declared in these languages
	AllowedCaps      []string `json:"allowed_caps"`
	MissingFromCaps  []string `json:"missing_from_policy,omitempty"`
	exit             int
	source, language string
}

// denial is what stdout shows of a program that was not admitted.
type denial struct {
	File     string   `json:"file"`
	Policy   string   `json:"policy"`
	Decision decision `json:"decision"`
	TooLarge bool     `json:"source_too_large,omitempty"`
}

// admission is the line "policy: " on stderr.
type admission struct {
	OK           bool             `json:"ok"`
	PolicyDigest string           `json:"policy_digest"`
	SecurityMode string           `json:"security_mode"`
	Caps         []string         `json:"caps"`
	NetAllow     []string         `json:"net_allow"`
	Entry        string           `json:"entry"`
	TimeoutMS    int64            `json:"timeout_ms"`
	Budgets      map[string]int   `json:"budgets,omitempty"`
	Limits       map[string]int64 `json:"limits"`
	Modules      modules          `json:"module_graph"`
	Unenforced   []string         `json:"unenforced"`
	Decision     decision         `json:"decision"`
	EndedLine    bool             `json:"ended_line,omitempty"` // the line break before this line is not the program's
}

type modules struct {
	Digest string `json:"digest"` // sha256 of the one file
	Files  int    `json:"files"`
	Bytes  int    `json:"bytes"`
}

// limitLine is the line "policy-result: " on stderr, its keys in order.
type limitLine struct {
	Message      string `json:"message"`
	PolicyDigest string `json:"policy_digest"`
	Reason       string `json:"reason"`
	SecurityMode string `json:"security_mode"`
	Stage        string `json:"stage"`
	Version      int    `json:"version"`
}

// say writes one marked line.
func say(w io.Writer, mark string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("runner: a line does not marshal: " + err.Error())
	}
	fmt.Fprintf(w, "%s: %s\n", mark, b)
}

func newAdmission(p policy.Policy, digest string, d decision) admission {
	return admission{
		OK: true, PolicyDigest: digest, SecurityMode: p.SecurityMode, Caps: p.AllowedCaps, NetAllow: append([]string{}, p.NetAllow...),
		Entry: p.Entry, TimeoutMS: p.TimeoutMillis, Budgets: p.Budgets,
		Limits: map[string]int64{
			"max_source_bytes": p.MaxSource, "max_module_graph_bytes": p.MaxGraph,
			"max_output_bytes": p.MaxOutput, "max_fs_transfer_bytes": p.MaxTransfer,
		},
		Modules:    modules{policy.Digest([]byte(d.source)), 1, len(d.source)},
		Unenforced: unenforced(p, d), Decision: d,
	}
}
