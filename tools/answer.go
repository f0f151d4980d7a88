package tools

import (
	"world/canon"
	"world/confine"
	"world/store"
	"world/tools/policy"
)

// answer is what an agent gets of a run.
func (e envelope) answer(p policy.Policy, r confine.Result, digest string, tool store.Ref) []byte {
	limit, exit := canon.Value{}, canon.NewInt(int64(r.Exit))
	if e.limit != "" {
		limit = canon.NewObject([]canon.Member{{Name: "reason", Value: canon.NewString(e.limit)}, {Name: "stage", Value: canon.NewString("execute")}})
		exit = canon.Value{}
	}
	members := []canon.Member{
		{Name: "admitted", Value: canon.NewBool(e.admitted)}, {Name: "exit_code", Value: exit},
		{Name: "decision", Value: e.decision}, {Name: "limit", Value: limit},
		{Name: "stdout", Value: canon.NewString(e.stdout)}, {Name: "stderr", Value: canon.NewString(e.stderr)},
		{Name: "policy", Value: canon.NewObject([]canon.Member{
			{Name: "digest", Value: canon.NewString(digest)}, {Name: "security_mode", Value: canon.NewString(p.SecurityMode)},
			{Name: "caps", Value: stringList(p.AllowedCaps)}, {Name: "net_allow", Value: stringList(p.NetAllow)},
		})},
		{Name: "tool", Value: canon.NewString(string(tool))},
		{Name: "kept", Value: canon.NewBool(r.Applied == confine.WasApplied)},
	}
	if e.unenforced.Kind() == canon.Array && len(e.unenforced.Items()) > 0 {
		members = append(members, canon.Member{Name: "unenforced", Value: e.unenforced})
	}
	if r.Dropped > 0 {
		members = append(members, canon.Member{Name: "left_out_bytes", Value: canon.NewInt(r.Dropped)})
	}
	if report, err := canon.Parse(r.Changes, canon.Limits{}); err == nil && report.Kind() == canon.Object {
		for _, m := range report.Members() {
			if m.Name == "changes" && len(m.Value.Items()) > 0 || m.Name == "omitted" {
				members = append(members, m)
			}
		}
	}
	return canon.NewObject(members).Bytes()
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
