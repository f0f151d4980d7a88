package tools

import (
	"strings"
	"time"
	"unicode/utf8"

	"world/broker"
	"world/canon"
	"world/confine"
	"world/coordinator/plan"
	"world/store"
	"world/tools/policy"
)

// envelope is what a run says of itself beside the program's own output
// (reference/tool-contract.md §4).
type envelope struct {
	admitted       bool
	decision       canon.Value // null unless it was not admitted
	limit          string      // reason; "" for none
	refused        string      // why the program's changes were, "" when they were not
	unjudged       bool        // in the time for that
	stdout, stderr string      // the program's
	replaced       int64       // bytes of both that are no text
	unenforced     canon.Value
}

// reasons are what the jail's bounds are called in answers. Append only.
var reasons = map[confine.Bound]string{
	confine.WallBound: "timeout", confine.OutputBound: "output_limit", confine.CPUBound: "cpu_limit", confine.MemoryBound: "memory_limit",
	confine.SizeBound: "file_size_limit", confine.SpaceBound: "worktree_space_limit", confine.FilesBound: "worktree_files_limit",
	confine.ScratchBound: "scratch_files_limit", confine.Died: "killed",
}

// judgeRun turns the end of a run into one of the three ways an effect ends. What
// became of the worktree is the jail's word, and so is each limit of ours; what the
// tool writes about itself is believed where it cannot do harm, and a limit only
// where our own clock and count agree.
func (h *Handler) judgeRun(o order, p policy.Policy, r confine.Result, digest string) broker.Result {
	failed := func(detail string) broker.Result {
		return broker.Result{Status: store.StatusFailed, Detail: detail}
	}
	switch {
	case r.Applied == confine.MaybeApplied:
		return broker.Result{Status: store.StatusIndeterminate, Detail: "the program ended, and its changes to the worktree may have been taken over in part"}
	case !r.Started:
		return failed("the program was not started: " + string(r.Bound))
	case r.Bound == confine.CallerBound:
		return failed("the call was cancelled; nothing that the program changed was kept")
	}
	e := enveloped(p, r)
	if r.Bound == confine.Died && wrote(r) >= maxOutput(p) {
		r.Bound = confine.OutputBound // world-tool dies with what prints too much
	}
	if reason, ok := reasons[r.Bound]; ok {
		e.admitted, e.limit = true, reason
		e.cutOwnLines(p, digest)
	} else if problem := e.read(p, digest, r); problem != "" {
		return failed(problem + alsoChanged(r))
	}
	if also := alsoChanged(r); !e.admitted && e.limit == "" && also != "" {
		return failed("the tool's answer says that the program was not admitted" + also)
	}
	output := e.answer(p, r, digest, h.runRef(o))
	if len(output) > maxAnswer {
		return failed("the run's answer is too large")
	}
	return broker.Result{Status: store.StatusSucceeded, Output: output}
}

// enveloped makes texts of what a run printed, and notes what the jail says of it.
func enveloped(p policy.Policy, r confine.Result) envelope {
	stdout, bad := textIn(r.Stdout)
	stderr, more := textIn(r.Stderr)
	return envelope{
		stdout: withoutPath(stdout, p.Sandbox), stderr: withoutPath(stderr, p.Sandbox), replaced: bad + more,
		refused: withoutPath(r.Refused, p.Sandbox), unjudged: r.Unjudged,
	}
}

// textIn makes UTF-8 of output: each byte that belongs to no character becomes one
// U+FFFD, and replaced counts them.
func textIn(output []byte) (text string, replaced int64) {
	for rest := output; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			replaced++
		}
		rest = rest[size:]
	}
	return string([]rune(string(output))), replaced
}

// read tells the shapes of the contract apart. problem says why it is none of them, or
// which of those in which a tool has no answer.
func (e *envelope) read(p policy.Policy, digest string, r confine.Result) (problem string) {
	if r.Exit != 0 && e.stderr == "" {
		v, err := canon.Parse([]byte(e.stdout), canon.Limits{Pairs: true})
		decision, _ := v.Get("decision")
		if kind, _ := textOf(decision, "error_kind"); err == nil && isDenial(decision) && (r.Exit == exitDenied || r.Exit == exitFailed && kind == unreadable) {
			if caps, _ := decision.Get("allowed_caps"); caps.Kind() == canon.Array && !equalSets(texts(decision, "allowed_caps"), p.AllowedCaps) {
				return "the tool's answer breaks the contract: it denies the program under another allowed_caps"
			}
			e.decision, e.stdout = decision, ""
			return ""
		}
	}
	before, line := lastLine(e.stderr)
	reason, isLimit := limitIn(line, digest)
	if isLimit && r.Exit == exitLimit && agrees(reason, p, r) {
		e.limit, e.stderr = reason, before
	}
	// A line that nothing bears out is the program's, and stays in its text.
	admission, rest, wrong := cutAdmission(e.stderr, p, digest)
	switch {
	case admission.Kind() == canon.Object:
		e.admitted, e.stderr = true, rest
		e.unenforced, _ = admission.Get("unenforced")
		return ""
	case e.limit != "":
		return "" // it ran out before it was admitted
	case wrong != "":
		return "the tool's answer breaks the contract: it admits the program under another " + wrong
	case isLimit && r.Exit != 0 && undecided[reason] != "":
		result, _ := marked(line, resultMark)
		message, _ := textOf(result, "message")
		return undecided[reason] + ": " + reasoned(message, p.Sandbox)
	case r.Exit == exitFailed && strings.HasPrefix(line, refusedMark):
		return plan.Lasting + "the tool refuses to run the program: " + reasoned(strings.TrimPrefix(line, refusedMark), p.Sandbox)
	}
	return "the tool's answer is none that the contract knows"
}

// refusedMark begins a tool's word on a run that it refuses as it is asked for.
const refusedMark = "Error: --policy: "

// undecided are the reasons for which a tool has no answer.
var undecided = map[string]string{"worker_failed": "the tool's worker failed", "no_decision": "the tool came to no decision"}

// cutOwnLines takes out what the tool said last of a run that reached a bound of the
// jail: that it admits the program, and that it has seen the same bound reached.
func (e *envelope) cutOwnLines(p policy.Policy, digest string) {
	before, line := lastLine(e.stderr)
	if reason, ok := limitIn(line, digest); ok && reason == e.limit {
		e.stderr = before
		before, line = lastLine(before)
	}
	if admission, open := admissionIn(line); admission.Kind() == canon.Object && otherThan(admission, p, digest) == "" {
		e.stderr = unended(admission, before) + open
		e.unenforced, _ = admission.Get("unenforced")
	}
}

// The tool's exit codes (reference/tool-contract.md §4).
const (
	exitFailed = 1 // the program did, or it cannot be read
	exitDenied = 2 // the policy does not admit the program
	exitLimit  = 3 // a limit ended it
)

// unreadable is the kind of a denial that ends with exitFailed.
const unreadable = "read_failed"

// agrees reports whether a limit that the tool tells of is borne out by what was seen
// from outside.
func agrees(reason string, p policy.Policy, r confine.Result) bool {
	switch reason {
	case "timeout":
		return r.Elapsed >= time.Duration(p.TimeoutMillis)*time.Millisecond
	case "output_limit":
		return wrote(r) >= maxOutput(p)
	}
	return false
}

// wrote is how much a run has printed, in bytes.
func wrote(r confine.Result) int64 { return int64(len(r.Stdout)+len(r.Stderr)) + r.Dropped }
