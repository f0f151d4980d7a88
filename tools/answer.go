package tools

import (
	"slices"

	"world/canon"
	"world/confine"
	"world/store"
	"world/tools/policy"
)

// answer is what an agent gets of a run.
func (e envelope) answer(p policy.Policy, r confine.Result, digest string, tool store.Ref) []byte {
	exit := canon.NewInt(int64(r.Exit))
	if e.limit != "" {
		exit = canon.Value{} // the program did not end by itself
	}
	members := []canon.Member{
		{Name: "admitted", Value: canon.NewBool(e.admitted)}, {Name: "exit_code", Value: exit},
		{Name: "decision", Value: e.decision}, {Name: "limit", Value: e.limited()},
		{Name: "stdout", Value: canon.NewString(e.stdout)}, {Name: "stderr", Value: canon.NewString(e.stderr)},
		{Name: "policy", Value: canon.NewObject([]canon.Member{
			{Name: "digest", Value: canon.NewString(digest)}, {Name: "security_mode", Value: canon.NewString(p.SecurityMode)},
			{Name: "caps", Value: stringList(p.Granted())}, {Name: "net_allow", Value: stringList(p.NetAllow)},
		})},
		{Name: "tool", Value: canon.NewString(string(tool))},
		{Name: "kept", Value: canon.NewBool(r.Applied == confine.WasApplied)},
	}
	if areTexts(e.unenforced) && len(e.unenforced.Items()) > 0 {
		members = append(members, canon.Member{Name: "unenforced", Value: e.unenforced})
	}
	if e.replaced > 0 {
		members = append(members, canon.Member{Name: "replaced_bytes", Value: canon.NewInt(e.replaced)})
	}
	if r.Dropped > 0 {
		members = append(members, canon.Member{Name: "left_out_bytes", Value: canon.NewInt(r.Dropped)})
	}
	return canon.NewObject(append(members, changesOf(r)...)).Bytes()
}

// changesOf are the members that tell what a run changed; the list is left out when
// it is empty.
func changesOf(r confine.Result) []canon.Member {
	return slices.DeleteFunc(reported(r), func(m canon.Member) bool { return m.Name == "changes" && len(m.Value.Items()) == 0 })
}

// reported are the members of the jail's report of changes (package overlay), none where
// there is none.
func reported(r confine.Result) (members []canon.Member) {
	report, err := canon.Parse(r.Changes, canon.Limits{})
	if err != nil || report.Kind() != canon.Object {
		return nil
	}
	return slices.Clone(report.Members())
}

// changesRefused is the reason of a limit that a program meets when it has ended:
// what it changed, or one thing of it, may not be taken over.
const changesRefused = "changes_refused"

// notTakenOver is that of one whose changes were not judged and written in the time
// for that.
const notTakenOver = "not_taken_over"

// limited tells which limit a run met, null for none.
func (e envelope) limited() canon.Value {
	limit := func(reason, stage string, more ...canon.Member) canon.Value {
		return canon.NewObject(append([]canon.Member{
			{Name: "reason", Value: canon.NewString(reason)}, {Name: "stage", Value: canon.NewString(stage)}}, more...))
	}
	switch {
	case e.limit != "":
		return limit(e.limit, "execute")
	case e.unjudged:
		return limit(notTakenOver, "apply", canon.Member{Name: "message", Value: canon.NewString(e.refused)})
	case e.refused != "":
		return limit(changesRefused, "apply", canon.Member{Name: "message", Value: canon.NewString(e.refused)})
	}
	return canon.Value{}
}

func stringList(texts []string) canon.Value {
	items := make([]canon.Value, len(texts))
	for i, text := range texts {
		items[i] = canon.NewString(text)
	}
	return canon.NewArray(items)
}

// runRef is the ref of the binary that runs a program.
func (h *Handler) runRef(o order) store.Ref {
	if h.runs(o) == h.tool {
		return h.ref
	}
	return h.jail.Stage().Ref
}
