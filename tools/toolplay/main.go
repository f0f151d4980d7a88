// Command toolplay is a tool binary that says what a test has written for it: it
// keeps to the contract, leaves out, or lies. The file "play.json" of the worktree
// names what each verb does; its summary is true unless that is played too.
package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"world/tools/policy"
)

// step is what one verb does, in this order.
type step struct {
	Write          map[string]string // files of the worktree
	Stdout, Stderr string
	Repeat         int // of stdout, beyond once
	Sleep          time.Duration
	Signal         int // to itself; 0 for none
	Exit           int
	Echo           bool // stdout is what it was asked: arguments and standard input
}

func main() {
	var steps map[string]step
	raw, err := os.ReadFile("play.json")
	if err == nil {
		err = json.Unmarshal(raw, &steps)
	} else if os.IsNotExist(err) {
		err = nil // a new worktree: only the summary is asked for
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(99)
	}
	asked, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(98)
	}
	name := os.Args[1]
	if strings.Contains(string(asked), `"op":"summary"`) {
		name = "summary"
	}
	played, ok := steps[name]
	if name == "summary" && !ok {
		played = step{Stdout: summary(os.Args[3])}
	}
	if name == "run" {
		played.Stdout, played.Stderr = told(played.Stdout), told(played.Stderr)
	}
	os.Exit(played.play(asked))
}

func (s step) play(asked []byte) int {
	for name, content := range s.Write {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			return 97
		}
	}
	if s.Echo {
		content, err := json.Marshal(strings.Join(os.Args[1:], " ") + "\n" + string(asked))
		if err != nil {
			return 96
		}
		s.Stdout = `{"ok":true,"content":` + string(content) + "}"
	}
	for range s.Repeat + 1 {
		os.Stdout.WriteString(s.Stdout)
	}
	os.Stderr.WriteString(s.Stderr)
	time.Sleep(s.Sleep)
	if s.Signal != 0 {
		syscall.Kill(os.Getpid(), syscall.Signal(s.Signal))
		select {}
	}
	return s.Exit
}

// told puts what the tool was told into a text: {digest}, {mode}, {caps} and {net} of
// its policy.
func told(text string) string {
	raw, p := policyIn(os.Args[3])
	caps, err := json.Marshal(p.AllowedCaps)
	if err != nil {
		os.Exit(92)
	}
	net, err := json.Marshal(p.NetAllow)
	if err != nil {
		os.Exit(91)
	}
	return strings.NewReplacer("{digest}", policy.Digest(raw), "{mode}", p.SecurityMode, "{caps}", string(caps), "{net}", string(net)).Replace(text)
}

func policyIn(file string) (raw []byte, p policy.Policy) {
	raw, err := os.ReadFile(file)
	if err != nil {
		os.Exit(95)
	}
	if p, err = policy.Parse(raw); err != nil {
		os.Exit(94)
	}
	return raw, p
}

// summary is that of an AILANG binary: its operations, and none of world-tool's own.
func summary(file string) string {
	raw, p := policyIn(file)
	said, err := json.Marshal(map[string]any{"ok": true, "summary": map[string]any{
		"security_mode": p.SecurityMode, "policy_digest": policy.Digest(raw), "fs_sandbox": p.Sandbox,
		"caps": p.AllowedCaps, "net_allow": append([]string{}, p.NetAllow...), "process_allow": []string{},
		"cli":        []string{"check", "fmt", "prompt", "lock", "write"},
		"ops":        []string{"ai_check", "builtins_list", "check", "edit", "examples_search", "fmt", "prompt", "read", "summary", "write"},
		"timeout_ms": p.TimeoutMillis,
	}})
	if err != nil {
		os.Exit(93)
	}
	return string(said)
}
