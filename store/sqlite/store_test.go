package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"world/store"
	"world/store/sqlite"
	"world/store/storetest"
)

// The environment of a process that a crash test kills.
const (
	victimPath  = "WORLD_TEST_VICTIM_DB"
	victimRound = "WORLD_TEST_VICTIM_ROUND"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimPath); path != "" {
		s, err := sqlite.Open(context.Background(), path, sqlite.Options{})
		if err == nil {
			err = storetest.Victim(s, os.Getenv(victimRound), os.Stdout)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func opener(path string) storetest.Opener {
	return func(t testing.TB) store.Store {
		t.Helper()
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func TestCrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	storetest.Crash(t, opener(path), 30, 20, func(round string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimPath+"="+path, victimRound+"="+round)
		return cmd
	})
}
