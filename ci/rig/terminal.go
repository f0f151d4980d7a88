package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/creack/pty"
)

// Attended runs one binary at a controlling terminal of its own and types
// answer once the terminal shows a question ending in prompt. It returns what
// the terminal showed beside the result.
func (w *World) Attended(ctx context.Context, prompt, answer, binary string, args ...string) (Result, string, error) {
	terminal, tty, err := pty.Open()
	if err != nil {
		return Result{}, "", err
	}
	defer terminal.Close()
	cmd := exec.CommandContext(ctx, filepath.Join(w.Bin, binary), args...)
	cmd.Stdin = tty
	cmd.Env = outsideCI()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}

	var shown strings.Builder
	var reading sync.WaitGroup
	reading.Go(func() {
		typed := false
		chunk := make([]byte, 1024)
		for {
			n, err := terminal.Read(chunk)
			shown.Write(chunk[:n])
			if !typed && strings.Contains(shown.String(), prompt) {
				typed = true
				fmt.Fprintf(terminal, "%s\n", answer)
			}
			if err != nil {
				return
			}
		}
	})
	result, err := Finish(cmd)
	tty.Close()
	terminal.Close()
	reading.Wait()
	return result, shown.String(), err
}

// Mint mints a session at a terminal with "session ARGS" and returns its credential.
func (w *World) Mint(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"session"}, args...)
	result, shown, err := w.Attended(ctx, "[y/N]", "y", "ailang-worldd", args...)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(result.Stdout)
	if result.Code != 0 || len(token) != 64 {
		return "", fmt.Errorf("session %s: exit %d: %s %s", args[1], result.Code, oneLine(result.Stderr), oneLine(shown))
	}
	return token, nil
}

// outsideCI is the environment without the variables by which attended acts
// know continuous integration: the terminal here is the test's own.
func outsideCI() []string {
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "CI=") || strings.HasPrefix(pair, "GITHUB_ACTIONS=")
	})
}
