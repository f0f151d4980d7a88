package confine

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOfWorktree: two worlds' episodes of one name are two users, and whoever has a
// worktree keeps it.
func TestOfWorktree(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "ep"), filepath.Join(t.TempDir(), "ep")
	first, second := OfWorktree(one), OfWorktree(two)
	if root := os.Geteuid() == 0; (first == second) == root || first == 0 && root {
		t.Fatalf("one is %d, the other %d", first, second)
	}
	if err := os.Mkdir(one, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := OfWorktree(one); got != first {
		t.Errorf("of one that belongs to nobody yet: %d and not %d", got, first)
	}
	if os.Geteuid() != 0 {
		return // who can only be himself
	}
	for _, test := range []struct{ owner, want User }{
		{second, second}, {UserOf("ep"), UserOf("ep")}, // moved, and made when the name alone counted
		{1000, first}, {0, first}, {smallBase - 1, first}, {userBase + userSpan, first},
	} {
		if err := HandOver(one, test.owner); err != nil {
			t.Fatal(err)
		}
		if got := OfWorktree(one); got != test.want {
			t.Errorf("of one that belongs to %d: %d and not %d", test.owner, got, test.want)
		}
	}
	link := filepath.Join(filepath.Dir(two), "link")
	if err := os.Symlink(one, link); err != nil {
		t.Fatal(err)
	}
	if err := HandOver(link, second); err != nil {
		t.Fatal(err)
	}
	if got := OfWorktree(link); got == second || got == OfWorktree(one) {
		t.Errorf("a link is a worktree of %d", got)
	}
}

// TestFamiliesOfTwoWorlds: runs of one family in two daemons are no user's of both.
func TestFamiliesOfTwoWorlds(t *testing.T) {
	users := map[User]bool{}
	for _, salt := range []string{"one", "two"} {
		j := &Jail{salt: salt}
		for range 2 * families {
			users[j.userOf(Spec{Family: "f"})] = true
		}
	}
	if shared := len(users) <= families; shared == (os.Geteuid() == 0) {
		t.Errorf("two daemons' runs of a family are %d users", len(users))
	}
}
