// Package policytool is the verb "policy-tool": one request on stdin, one response
// on stdout, file operations inside one worktree under one policy. It runs inside
// the jail.
//
// It speaks the contract of AILANG's policy-tool (reference/tool-contract.md §2),
// strictly decoded, for the operations that need no AILANG, and for two of its own:
// list and search, which walk the worktree in byte order of its paths, within bounds,
// and say when they stopped early. What asks python3 (ai_check, check, builtins_list and
// builtins_show) needs a jail that lets it start a process. It promises
// besides that nothing but a regular file inside the worktree is read or written,
// whatever links lie on the way and whoever moves them; that a write leaves the
// old file or the new one, with its mode, and nothing in between; that text comes
// back as it is on disk or not at all; and that no message names a path of the host.
// A write that is killed may leave its file ".world-tool-*.tmp" beside the target.
package policytool

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"world/fault"
	"world/infile"
	"world/tools/overlay"
	"world/tools/policy"
)

// Verb is the command's name.
const Verb = "policy-tool"

// policyVariable names the policy file when no flag does.
const policyVariable = "AILANG_AGENT_POLICY"

// Rehearsal is a request that reads and leaves nothing behind.
func Rehearsal() []byte { return []byte(`{"op":"read","path":".","flags":{"limit":"1"}}`) }

// Serve answers one request. The exit code is 0 whenever a response was written,
// refusals included, 1 when none could be formed, 2 for flags it does not know.
func Serve(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet(Verb, flag.ContinueOnError)
	flags.SetOutput(stderr)
	policyFile := flags.String("policy", os.Getenv(policyVariable), "policy `file`")
	requestFile := flags.String("request-file", "", "read the request from `file` instead of stdin")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return 2
	}
	fail := func(what any) int {
		fmt.Fprintf(stderr, "%s: %v\n", Verb, what)
		return 1
	}
	if *policyFile == "" {
		return fail("no policy — pass --policy or export " + policyVariable + " (the launcher's handle); the tool refuses by default")
	}
	if *requestFile != "" {
		f, err := infile.Open(*requestFile)
		if err != nil {
			return fail("the request file cannot be read")
		}
		defer f.Close()
		stdin = f
	}
	raw, err := io.ReadAll(io.LimitReader(stdin, MaxRequest+1))
	if err != nil {
		return fail("the request cannot be read")
	}
	request, err := DecodeRequest(raw)
	if err != nil {
		return fail(fault.Public(err))
	}
	if err := write(stdout, answer(*policyFile, request)); err != nil {
		return fail("the response cannot be written")
	}
	return 0
}

// Response is the one shape of all answers. Empty members are left out.
type Response struct {
	OK       bool     `json:"ok"`
	Refused  string   `json:"refused,omitempty"`
	Content  string   `json:"content,omitempty"`
	Argv     []string `json:"argv,omitempty"`
	ExitCode int      `json:"exit_code,omitempty"`
	Stdout   string   `json:"stdout,omitempty"`
	Stderr   string   `json:"stderr,omitempty"`
	Summary  *Summary `json:"summary,omitempty"`

	Cut     bool             `json:"cut,omitempty"`     // there is more than what is answered
	Why     string           `json:"why,omitempty"`     // what it was cut by: "limit", "size", "time" or "depth"; "past_end" of a read that begins there
	Lines   int64            `json:"lines,omitempty"`   // read in part: lines of the whole file
	Bytes   int64            `json:"bytes,omitempty"`   // read by bytes: those of the whole file
	Next    int64            `json:"next,omitempty"`    // read in part: the offset to read on at, absent at the end
	Created bool             `json:"created,omitempty"` // write: there was no file before
	Line    int64            `json:"line,omitempty"`    // edit: line of the first change, counted from 1
	Diff    string           `json:"diff,omitempty"`    // edit: one hunk
	Changes []overlay.Change `json:"changes,omitempty"` // write and edit: the one file, and its content by hash
	Entries []Entry          `json:"entries,omitempty"`
	Matches []Match          `json:"matches,omitempty"`
	Files   int64            `json:"files,omitempty"`   // search: files looked into
	Skipped int64            `json:"skipped,omitempty"` // search: files that are binary, too large or closed
}

// Entry is one name that a list answers.
type Entry struct {
	Path string `json:"path"` // from the root of the worktree
	Type string `json:"type"` // "file", "dir", "link" or "other"
	Size int64  `json:"size"` // bytes of a file, 0 for others
}

// Match is one line that a search answers.
type Match struct {
	Path string `json:"path"`
	Line int64  `json:"line"` // counted from 1
	Text string `json:"text"` // the line, cut around the match when it is long
}

// Summary says what the policy allows.
type Summary struct {
	SecurityMode string   `json:"security_mode"`
	PolicyDigest string   `json:"policy_digest"`
	Sandbox      string   `json:"fs_sandbox"`
	Caps         []string `json:"caps"`
	NetAllow     []string `json:"net_allow"`
	ProcessAllow []string `json:"process_allow"`
	CLI          []string `json:"cli"`
	Ops          []string `json:"ops"`
	TimeoutMS    int64    `json:"timeout_ms"`
}

func refused(format string, args ...any) Response {
	return Response{Refused: fmt.Sprintf(format, args...)}
}

// answer reads the policy and carries out one operation under it.
func answer(policyFile string, q Request) Response {
	raw, err := infile.Read(policyFile, policy.MaxFile)
	if err != nil {
		return refused("policy: the policy file cannot be read")
	}
	p, err := parse(raw)
	if err != nil {
		return refused("policy: %s", fault.Public(err))
	}
	op, ok := operations()[q.Op]
	if !ok {
		return refused("unknown op %q (ops: %s)", clip(q.Op), strings.Join(operationNames(), ", "))
	}
	if p.SecurityMode != policy.Restricted && q.Op != "summary" {
		return refused("policy: security_mode %q is for runs alone", p.SecurityMode)
	}
	if text := q.surplus(op); text != "" {
		return refused("%s", text)
	}
	if p.NetAllow == nil {
		p.NetAllow = []string{}
	}
	t, err := openTree(p)
	if err != nil {
		return refused("the sandbox is not there")
	}
	defer t.Close()
	return op.run(t, q, policy.Digest(raw))
}

// known is a policy and the text that it was read from.
type known struct {
	raw    []byte
	policy policy.Policy
}

// last is the policy that was read last. One who waits for a request has read his in a
// rehearsal, and reads it anew only if its text is another when the request has come.
var last atomic.Pointer[known]

func parse(raw []byte) (policy.Policy, error) {
	if k := last.Load(); k != nil && bytes.Equal(k.raw, raw) {
		return k.policy, nil
	}
	p, err := policy.Parse(raw)
	if err == nil {
		last.Store(&known{raw, p})
	}
	return p, err
}

func write(w io.Writer, r Response) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false) // six bytes for one would carry a text of the limit beyond the output's bound
	if err := encoder.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
