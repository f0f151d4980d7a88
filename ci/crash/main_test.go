// Package crash kills processes that hold a world, at every named moment of a
// call, over each engine and under each fault of a database, and holds what is
// left to one oracle (see judge). The real daemon is killed as well.
//
// go test runs a fixed part; make crash runs the same code at full size. A seed
// is printed, and -seed with the same -kills plays the same kills again.
package crash

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"world/fault/await"
	"world/store/postgres/pgtest"
)

var (
	kills = flag.Int("kills", 290, "how many processes the kill matrix kills")
	seed  = flag.Uint64("seed", 0, "seed of the kills; 0 draws one")
)

// bin is where the programs with stop points are built, once they are needed.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	fmt.Printf("crash: -seed %d -kills %d\n", *seed, *kills)
	dir, err := os.MkdirTemp("", "world-crash-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bin = dir
	pgtest.Main(cleaned{m, dir})
}

// cleaned removes the programs after the tests.
type cleaned struct {
	*testing.M
	dir string
}

func (c cleaned) Run() int {
	defer os.RemoveAll(c.dir)
	return c.M.Run()
}

// built builds the victim and the daemon with stop points, once.
var built = sync.OnceValue(func() error {
	if folder := os.Getenv(prebuilt); folder != "" {
		bin = folder
		return nil
	}
	for folder, args := range map[string][]string{
		"":      {"-tags", "stops", "world/ci/crash/victim", "world/cmd/ailang-worldd", "world/cmd/world-tool"},
		"plain": {"world/ci/crash/victim"},
	} {
		cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(bin, folder) + "/"}, args...)...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w\n%s", err, out)
		}
	}
	return nil
})

func build(t testing.TB) {
	t.Helper()
	ok(t, built())
}

// source draws from the seed and a name, so that one test does not move another's.
func source(name string) *rand.Rand {
	var n uint64
	for _, b := range []byte(name) {
		n = n*131 + uint64(b)
	}
	return rand.New(rand.NewPCG(*seed, n))
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// until polls a condition that other processes bring about.
func until(t testing.TB, what string, met func() bool) {
	t.Helper()
	await.That(t, what, met)
}

// isDatabase reports whether a place is a database's URL.
func isDatabase(where string) bool { return strings.HasPrefix(where, "postgres:") }
