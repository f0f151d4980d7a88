package store_test

import (
	"strings"
	"testing"

	"world/fault"
	"world/store"
)

func check(t *testing.T, what string, parse func(string) (string, error), good, bad []string) {
	t.Helper()
	for _, s := range good {
		if got, err := parse(s); err != nil || got != s {
			t.Errorf("%s %q: got %q, %v", what, s, got, err)
		}
	}
	for _, s := range bad {
		if got, err := parse(s); !fault.Is(err, fault.Invalid) || got != "" {
			t.Errorf("%s %q: got %q, %v, want it refused", what, s, got, err)
		}
	}
}

func TestNames(t *testing.T) {
	check(t, "episode", func(s string) (string, error) { e, err := store.ParseEpisodeID(s); return string(e), err },
		[]string{"a", "0", "ep-1", "a--", strings.Repeat("a", 64)},
		[]string{"", "-a", "A", "a_b", "a.b", "a/b", "..", "a:b", "é", "a b", "a\n", "a\x00", strings.Repeat("a", 65)})
	check(t, "credential", func(s string) (string, error) { c, err := store.ParseCredentialID(s); return string(c), err },
		[]string{strings.Repeat("0", 64), strings.Repeat("af", 32)},
		[]string{"", strings.Repeat("0", 63), strings.Repeat("0", 65), strings.Repeat("A", 64), strings.Repeat("g", 64)})
	check(t, "transition", func(s string) (string, error) { x, err := store.ParseTransitionID(s); return string(x), err },
		[]string{"a", "ailang-read", "tools.read", "a/b.c/d", "a_b", "0", strings.Repeat("a", 32), strings.Repeat("a.", 63) + "a"},
		[]string{"", ".", "a.", ".a", "a..b", "a./b", "-a", "a-", "_a", "a_", "A", "a b", "a:b", "a\x00", "é",
			strings.Repeat("a", 33), strings.Repeat("a.", 64) + "a"})
	check(t, "task", store.ParseTask,
		[]string{"a", "A.z_0-9", strings.Repeat("x", 128)},
		[]string{"", "a:b", "a/b", "a b", "é", "a\x00", strings.Repeat("x", 129)})
}

// TestNamesAreApart holds that no two calls or intents share a name.
func TestNamesAreApart(t *testing.T) {
	if got := store.NewInvocationID(store.SurfaceA2A, "ep-1", "task.7"); got != "a2a:ep-1:task.7" {
		t.Errorf("invocation id %q", got)
	}
	if got := store.IntentName("ep-1", 12); got != "effect:ep-1:12" {
		t.Errorf("intent name %q", got)
	}
	if got := (store.Intent{Episode: "ep-1", Ordinal: 12}).Name(); got != "effect:ep-1:12" {
		t.Errorf("name of an intent %q", got)
	}
	if got := store.CommitInvocation("task.7"); got != "rest:task.7" {
		t.Errorf("id of a commit %q", got)
	}
	longest := store.NewInvocationID(store.SurfaceREST, store.EpisodeID(strings.Repeat("e", 64)), strings.Repeat("t", 128))
	if len(longest) > 256 {
		t.Errorf("the longest invocation id has %d bytes", len(longest))
	}
}

func TestIntentNamesReadBack(t *testing.T) {
	episode, ordinal, err := store.ParseIntentName(store.IntentName("ep-1", 12))
	if err != nil || episode != "ep-1" || ordinal != 12 {
		t.Errorf("%s %d, %v", episode, ordinal, err)
	}
	for _, bad := range []string{
		"", "effect", "effect:ep", "effect:ep:", "effect:ep:-1", "effect:ep:01", "effect:ep:+1", "effect:ep:1:2", "effect:Ep:1",
		"effect::1", "mcp:ep:1", "effect:ep:9223372036854775808", " effect:ep:1", "effect:ep:1\n",
	} {
		if episode, ordinal, err := store.ParseIntentName(bad); err == nil {
			t.Errorf("%q reads as %s %d", bad, episode, ordinal)
		}
	}
}

func FuzzParseTransitionID(f *testing.F) {
	for _, s := range []string{"a", "a.b/c", "a..b", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := store.ParseTransitionID(s)
		if err != nil {
			return
		}
		for _, part := range strings.FieldsFunc(string(id), func(r rune) bool { return r == '.' || r == '/' }) {
			if len(part) > 32 || strings.Trim(part, "-_") != part {
				t.Fatalf("%q has the segment %q", s, part)
			}
		}
		if strings.ContainsAny(s, " :\x00\n") || len(s) > 128 || strings.Contains(s, "..") {
			t.Fatalf("%q was let through", s)
		}
	})
}
