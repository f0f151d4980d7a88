package tools

import (
	"strings"
	"time"
	"unicode/utf8"

	"world/broker"
	"world/canon"
	"world/confine"
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
	stdout, stderr string      // the program's
	replaced       int64       // bytes of both that are no text
	unenforced     canon.Value
}

// reasons are what the jail's bounds are called in answers. Append only.
var reasons = map[confine.Bound]string{
	confine.WallBound: "timeout", confine.OutputBound: "output_limit", confine.CPUBound: "cpu_limit", confine.MemoryBound: "memory_limit",
	confine.SizeBound: "file_size_limit", confine.SpaceBound: "worktree_space_limit", confine.FilesBound: "worktree_files_limit", confine.Died: "killed",
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
	if reason, ok := reasons[r.Bound]; ok {
		e.admitted, e.limit = true, reason
		e.cutOwnLine(digest)
	} else if problem := e.read(p, r); problem != "" {
		if changed(r) {
			problem += ", and the worktree was changed"
		}
		return failed("the tool's answer " + problem)
	}
	if !e.admitted && e.limit == "" && changed(r) {
		return failed("the tool's answer says that the program was not admitted, and the worktree was changed")
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
		refused: withoutPath(r.Refused, p.Sandbox),
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

// read tells the shapes of the contract apart. problem says why it is none of them.
func (e *envelope) read(p policy.Policy, r confine.Result) (problem string) {
	if r.Exit != 0 && e.stderr == "" {
		v, err := canon.Parse([]byte(e.stdout), canon.Limits{Pairs: true})
		decision, _ := v.Get("decision")
		if ok, isBool := isOK(decision); err == nil && isBool && !ok {
			e.decision, e.stdout = decision, ""
			return ""
		}
	}
	if before, line := lastLine(e.stderr); r.Exit == exitLimit {
		if limit, ok := marked(line, "policy-result: "); ok {
			if reason, _ := textOf(limit, "reason"); agrees(reason, p, r) {
				e.limit, e.stderr = reason, before
			}
		}
	}
	// A line that nothing bears out is the program's, and stays in its text.
	if admission, rest, ok := cutAdmission(e.stderr); ok {
		e.admitted, e.stderr = true, rest
		e.unenforced, _ = admission.Get("unenforced")
		return ""
	}
	if e.limit != "" {
		return "" // it ran out before it was admitted
	}
	return "is none that the contract knows"
}

// cutOwnLine takes out the line that admits when it is the last one and names the
// policy that the tool was given, which a program that reached a bound of the jail
// did not write.
func (e *envelope) cutOwnLine(digest string) {
	before, line := lastLine(e.stderr)
	admission, open, ok := admissionIn(line)
	if of, _ := textOf(admission, "policy_digest"); ok && of == digest {
		e.stderr = before + open
		e.unenforced, _ = admission.Get("unenforced")
	}
}

// exitLimit is the tool's exit code when a limit ended the program.
const exitLimit = 3

// agrees reports whether a limit that the tool tells of is borne out by what was seen
// from outside.
func agrees(reason string, p policy.Policy, r confine.Result) bool {
	switch reason {
	case "timeout":
		return r.Elapsed >= time.Duration(p.TimeoutMillis)*time.Millisecond
	case "output_limit":
		return int64(len(r.Stdout)+len(r.Stderr))+r.Dropped >= maxOutput(p)
	}
	return false
}

// lastLine splits off the last line, without its end.
func lastLine(text string) (before, line string) {
	text = strings.TrimSuffix(text, "\n")
	i := strings.LastIndexByte(text, '\n') + 1
	return text[:i], text[i:]
}

// cutAdmission takes the last line that admits out of a text.
func cutAdmission(text string) (admission canon.Value, rest string, ok bool) {
	for head, tail := text, ""; head != ""; {
		before, line := lastLine(head)
		if admission, open, ok := admissionIn(line); ok {
			return admission, before + open + tail, true
		}
		head, tail = before, line+"\n"+tail
	}
	return admission, text, false
}

// admissionIn reads an admission at the end of a line, which a program may have left
// open, and returns what stands before it.
func admissionIn(line string) (admission canon.Value, before string, ok bool) {
	i := strings.LastIndex(line, "policy: {")
	if i < 0 {
		return admission, "", false
	}
	admission, ok = marked(line[i:], "policy: ")
	decision, _ := admission.Get("decision")
	admitted, _ := isOK(admission)
	decided, _ := isOK(decision)
	return admission, line[:i], ok && admitted && decided
}

// marked reads the JSON object after a mark.
func marked(line, mark string) (canon.Value, bool) {
	text, ok := strings.CutPrefix(line, mark)
	if !ok {
		return canon.Value{}, false
	}
	v, err := canon.Parse([]byte(text), canon.Limits{Pairs: true})
	return v, err == nil && v.Kind() == canon.Object
}

func isOK(v canon.Value) (ok, isBool bool) {
	member, _ := v.Get("ok")
	return member.Bool()
}
