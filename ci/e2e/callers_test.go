package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"world/ci/rig"
)

// TestReport_pydanticAI2978 lets callers race for the last units of a budget:
// exactly as many run as there are units.
// Report 8 of reference/reports.md: calls made at once all start before the limit is looked at.
func TestReport_pydanticAI2978(t *testing.T) {
	w, ctx := served(t)
	for _, c := range []struct {
		episode         string
		budget, callers int
	}{{"two-on-one", 1, 2}, {"eight-on-six", 6, 8}} {
		t.Run(c.episode, func(t *testing.T) {
			credential := session(t, ctx, w, c.episode, fmt.Sprint(c.budget))
			answers := race(t, ctx, w, credential, c.callers)
			ran, denied := 0, 0
			for _, a := range answers {
				switch {
				case !a.IsError && a.Output["content"] == "hello, world\n":
					ran++
				case a.IsError && strings.Contains(a.Text, "denied:budget"):
					denied++
				default:
					t.Errorf("unexpected answer %+v", a)
				}
			}
			if ran != c.budget || denied != c.callers-c.budget {
				t.Errorf("%d ran and %d were denied, want %d and %d", ran, denied, c.budget, c.callers-c.budget)
			}
		})
	}
	clean(t, ctx, w)
}

// race reads one file with as many clients at once.
func race(t *testing.T, ctx context.Context, w *rig.World, credential string, callers int) []rig.Answer {
	t.Helper()
	answers := make([]rig.Answer, callers)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range answers {
		agent := connect(t, ctx, w, credential)
		done.Go(func() {
			start.Wait()
			answer, err := agent.Call(ctx, "ailang-read", "", map[string]any{"path": "greeting.txt"})
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
			answers[i] = answer
		})
	}
	start.Done()
	done.Wait()
	return answers
}

// TestToolsFollowGrants lists exactly what the grants allow, and answers an
// absent tool and an unlisted one alike.
func TestToolsFollowGrants(t *testing.T) {
	w, ctx := served(t)
	credential, err := w.Mint(ctx, "mint", "--episode", "reader", "--grant", "Workspace.Read=worktree:5",
		"--db", w.DB(), "--state-dir", w.State())
	if err != nil {
		t.Fatal(err)
	}
	agent := connect(t, ctx, w, credential)
	tools, err := agent.Tools(ctx)
	if err != nil || fmt.Sprint(tools) != "[ailang-read workspace-list workspace-search]" {
		t.Errorf("listed %v, %v", tools, err)
	}
	_, hidden := agent.Call(ctx, "ailang-write", "", map[string]any{"path": "a", "content": "b"})
	_, absent := agent.Call(ctx, "ailang-wrote", "", map[string]any{"path": "a", "content": "b"})
	if hidden == nil || absent == nil {
		t.Fatalf("a tool that is not listed was answered: %v, %v", hidden, absent)
	}
	if h, a := hidden.Error(), strings.ReplaceAll(absent.Error(), "ailang-wrote", "ailang-write"); h != a {
		t.Errorf("the answers differ:\n%s\n%s", h, a)
	}
	full := connect(t, ctx, w, session(t, ctx, w, "writer", "5"))
	tools, err = full.Tools(ctx)
	if err != nil || fmt.Sprint(tools) != "["+strings.Join(codingTools, " ")+"]" {
		t.Errorf("listed %v, %v", tools, err)
	}
	if answer, err := full.Call(ctx, "ailang-write", "", map[string]any{"path": "a", "content": "b"}); err != nil || answer.IsError {
		t.Errorf("a listed tool is answered %+v, %v", answer, err)
	}
}
