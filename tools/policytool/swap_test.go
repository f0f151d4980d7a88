package policytool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/tools/policy"
)

// swapping swaps a directory for a link while a test runs.
func (b bench) swapping(name, target string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	dir, aside := filepath.Join(b.root, name), filepath.Join(b.root, "aside")
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
			}
			os.Rename(dir, aside)
			os.Symlink(target, dir)
			os.Remove(dir)
			os.Rename(aside, dir)
		}
	}()
	return func() { close(done); <-ended }
}

// TestSwappedForOutside swaps a directory for a link out while requests run.
func TestSwappedForOutside(t *testing.T) {
	b := newBench(t)
	b.put("d/secret", "inside")
	stop := b.swapping("d", "../outside")
	served, refusals := 0, 0
	// Until both have been met: who swaps may not have his turn for long.
	for i, end := 0, time.Now().Add(time.Minute); i < 600 || (served == 0 || refusals == 0) && time.Now().Before(end); i++ {
		r := b.read("d/secret")
		switch {
		case r.Content == "secret":
			t.Fatal("read outside")
		case r.OK:
			served++
		default:
			refusals++
		}
		if i%20 == 0 { // writes reach the disk, and take their time
			b.write("d/secret", "inside")
			b.write("d/planted", "written")
		}
	}
	stop()
	if b.get("../outside/secret") != "secret" || !strings.HasPrefix(b.get("../outside/planted"), "error") {
		t.Error("wrote outside")
	}
	if served == 0 || refusals == 0 {
		t.Errorf("%d served, %d refused: the swap was not in the way", served, refusals)
	}
}

// TestSwappedForProtected swaps a directory for a link to a protected one: the
// check of the path and the use of it must not see two different directories.
func TestSwappedForProtected(t *testing.T) {
	b := newBench(t)
	b.put(".git/config", "[core]")
	b.put("d/config", "plain")
	tree, err := openTree(policy.For(b.root))
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	git, err := os.Stat(filepath.Join(b.root, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	stop := b.swapping("d", ".git")
	defer stop()
	reached := 0
	for i, end := 0, time.Now().Add(time.Minute); i < 5_000 || reached == 0 && time.Now().Before(end); i++ {
		p, err := tree.locateUnless("d/config", tree.policy.Protection)
		if err != nil {
			continue
		}
		if p.info != nil && os.SameFile(p.info, git) {
			t.Fatal("a protected file was reached by a plain name")
		}
		reached++
		p.Close()
	}
	if reached == 0 {
		t.Error("the plain file was never reached")
	}
}
