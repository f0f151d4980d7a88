package main

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// server starts a private server for a test.
func server(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("../../ci/postgres")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no server: %v", err)
	}
	return strings.TrimSpace(line)
}

// TestTable measures every system for a moment: each makes calls, and what it says
// of them is whole.
func TestTable(t *testing.T) {
	all, err := table(t.Context(), server(t), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3*3+2 {
		t.Fatalf("%d lines", len(all))
	}
	for _, r := range all {
		if r.rate <= 0 || r.p50 <= 0 || r.p99 < r.p50 || (r.wal <= 0) != (r.name == fileName) {
			t.Errorf("%+v", r)
		}
	}
}
