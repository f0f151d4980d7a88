package tools

import (
	"cmp"
	"strings"

	"world/canon"
	"world/tools/policy"
)

// lastLine splits off the last line, without its end.
func lastLine(text string) (before, line string) {
	text = strings.TrimSuffix(text, "\n")
	i := strings.LastIndexByte(text, '\n') + 1
	return text[:i], text[i:]
}

// cutAdmission takes the last line that admits under this policy out of a text. Without
// one, wrong names what the last line that admits says otherwise, if there is any.
func cutAdmission(text string, p policy.Policy, digest string) (admission canon.Value, rest, wrong string) {
	for head, tail := text, ""; head != ""; {
		before, line := lastLine(head)
		if found, open := admissionIn(line); found.Kind() == canon.Object {
			other := otherThan(found, p, digest)
			if other == "" {
				return found, unended(found, before) + open + tail, ""
			}
			wrong = cmp.Or(wrong, other)
		}
		head, tail = before, line+"\n"+tail
	}
	return admission, text, wrong
}

// unended takes the line break off what stands before an admission that says that the
// tool has put it there, after a line that the program left open.
func unended(admission canon.Value, before string) string {
	said, _ := admission.Get("ended_line")
	if by, _ := said.Bool(); by {
		return strings.TrimSuffix(before, "\n")
	}
	return before
}

// admissionIn reads an admission at the end of a line, which a program may have left
// open, and returns what stands before it; null for none.
func admissionIn(line string) (admission canon.Value, before string) {
	i := strings.LastIndex(line, "policy: {")
	if i < 0 {
		return admission, ""
	}
	found, ok := marked(line[i:], "policy: ")
	decision, _ := found.Get("decision")
	admitted, _ := isOK(found)
	decided, _ := isOK(decision)
	if !ok || !admitted || !decided {
		return admission, ""
	}
	return found, line[:i]
}

// resultMark begins a tool's word on how a run ended that did not end by itself.
const resultMark = "policy-result: "

// limitIn reads the reason in a line that tells of a limit under this policy.
func limitIn(line, digest string) (reason string, ok bool) {
	limit, ok := marked(line, resultMark)
	of, _ := textOf(limit, "policy_digest")
	reason, _ = textOf(limit, "reason")
	return reason, ok && of == digest
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
