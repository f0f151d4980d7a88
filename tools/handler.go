package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"world/broker"
	"world/broker/law"
	"world/canon"
	"world/confine"
	"world/fault"
	"world/store"
	"world/tools/policy"
	"world/tools/policytool"
)

// Options is what a handler needs.
type Options struct {
	Jail          *confine.Jail
	Tool          string        // path of the tool binary; "" is the jail's first stage, world-tool itself
	StateDir      string        // absolute; policies are rendered below it
	WorkspaceRoot string        // absolute; an episode's worktree is the directory of its name
	Floor         confine.Level // default landlock (D26)
	Log           zerolog.Logger
}

// Handler carries out the effects of the coding tools.
type Handler struct {
	jail     *confine.Jail
	tool     *confine.Image // nil: the first stage
	ref      store.Ref
	beside   []string // the tool's own directory, for a binary that starts another one
	state    string   // without links, as is root
	root     string
	policies string
	floor    confine.Level
	log      zerolog.Logger
}

var _ broker.Handler = (*Handler)(nil)

// allowed lists which operations each effect may ask the tool for.
var allowed = map[law.Effect][]string{
	WorkspaceRead:  {"read"},
	WorkspaceWrite: {"write", "edit"},
}

// writes lists the effects after which a worktree may have changed.
var writes = map[law.Effect]bool{WorkspaceWrite: true}

// maxAnswer is the largest output that a handler may give, in bytes.
const maxAnswer = 4 << 20

// NewHandler checks where everything lies, seals the tool binary and returns the
// handler. Invalid when state lies inside the workspace root, by name or by link;
// Unavailable when the floor cannot be reached or programs' users cannot walk to
// the workspace root.
func NewHandler(o Options) (*Handler, error) {
	if o.Floor == 0 {
		o.Floor = confine.Landlock
	}
	if reach := o.Jail.Reach().Level; reach < o.Floor {
		return nil, fault.New("tools: new handler", fault.Unavailable,
			"the coding tools need confinement level %s and the machine reaches %s", o.Floor, reach)
	}
	h := &Handler{jail: o.Jail, ref: o.Jail.Stage().Ref, floor: o.Floor, log: o.Log}
	if err := h.place(o.StateDir, o.WorkspaceRoot); err != nil {
		return nil, err
	}
	if o.Tool == "" {
		return h, nil
	}
	image, err := confine.SealFile(o.Tool)
	if err != nil {
		return nil, err
	}
	if image.Ref == h.ref {
		return h, image.Close()
	}
	h.tool, h.ref = image, image.Ref
	if path, err := filepath.EvalSymlinks(o.Tool); err == nil {
		if dir := filepath.Dir(path); h.jail.CanShow(dir, []string{h.state, h.root}, confine.UserOf("")) {
			h.beside = []string{dir}
		}
	}
	return h, nil
}

// Effects returns the effects that the handler serves.
func (h *Handler) Effects() []law.Effect { return []law.Effect{WorkspaceRead, WorkspaceWrite} }

// Tool returns the ref of the tool binary.
func (h *Handler) Tool() store.Ref { return h.ref }

// Close gives the sealed binary back.
func (h *Handler) Close() error {
	if h.tool == nil {
		return nil
	}
	return h.tool.Close()
}

// Handle implements broker.Handler. A refusal by the tool is an answer, and the
// effect has succeeded.
func (h *Handler) Handle(ctx context.Context, job broker.Job) broker.Result {
	request, problem := admit(job.Effect, job.Payload)
	if problem != "" {
		return broker.Result{Status: store.StatusFailed, Detail: problem}
	}
	worktree, rules, err := h.episode(job.Episode)
	if err != nil {
		h.log.Error().Err(err).Str("intent", job.Intent).Msg("tool not started")
		return failed(err)
	}
	result, err := h.jail.Run(ctx, h.spec(job, worktree, rules, request))
	if err != nil {
		h.log.Error().Err(err).Str("intent", job.Intent).Msg("tool not started")
		return failed(err)
	}
	h.log.Debug().Str("intent", job.Intent).Stringer("level", result.Level).Int("exit", result.Exit).
		Str("bound", string(result.Bound)).Dur("elapsed", result.Elapsed).Bytes("stderr", result.Stderr).Msg("tool ended")
	return h.judge(job.Effect, result, worktree, policy.Digest(rules))
}

// spec is one run of the tool.
func (h *Handler) spec(job broker.Job, worktree string, rules, request []byte) confine.Spec {
	limits := toolLimits
	if job.Deadline > 0 {
		limits.Wall = min(limits.Wall, job.Deadline)
	}
	return confine.Spec{
		Floor: h.floor, Program: h.tool,
		Args: []string{policytool.Verb, "--policy", confine.FilePath}, File: rules, Stdin: request,
		Env: []string{
			"HOME=" + confine.Home, "PATH=/usr/bin:/bin", "LANG=C", "LC_ALL=C",
			"AILANG_CACHE_DIR=" + confine.Home,
		},
		Worktree: worktree, ReadOnly: !writes[job.Effect], Readable: h.beside,
		Hidden: []string{h.state, h.root},
		User:   confine.UserOf(string(job.Episode)), Limits: limits,
	}
}

// toolLimits bound one run of the tool. Output holds a file of the transfer cap
// with its JSON escapes, Memory the same a few times over.
var toolLimits = confine.Limits{
	Wall: broker.DefaultDeadline, CPU: 10 * time.Second, Memory: 512 << 20, FileSize: 64 << 20, Files: 128,
	Processes: 128, Output: 16 << 20, Scratch: 64 << 20,
}

// admit checks an effect's payload against what the effect may ask for and
// returns the request to send. The tool may read keys case-insensitively, so a key
// that only folds to one it knows is refused.
func admit(effect law.Effect, payload []byte) (request []byte, problem string) {
	v, err := canon.Parse(payload, canon.Limits{})
	if err != nil || v.Kind() != canon.Object {
		return nil, fmt.Sprintf("broker: %s refuses a payload that is not a JSON object", effect)
	}
	for _, m := range v.Members() {
		if exact, ok := alias(m.Name); ok {
			return nil, fmt.Sprintf("broker: %s refuses the payload: key %q aliases %q", effect, m.Name, exact)
		}
	}
	op, ok := textOf(v, "op")
	if !ok || !slices.Contains(allowed[effect], op) {
		return nil, fmt.Sprintf("broker: %s refuses op %q: not in this effect's op allowlist", effect, op)
	}
	return v.Bytes(), ""
}

// episode returns the episode's worktree and its policy, which it renders.
func (h *Handler) episode(id store.EpisodeID) (worktree string, rules []byte, err error) {
	if _, err := store.ParseEpisodeID(string(id)); err != nil {
		return "", nil, err
	}
	worktree = filepath.Join(h.root, string(id))
	if info, err := os.Lstat(worktree); err != nil || !info.IsDir() {
		return "", nil, fault.Wrap("tools: episode", fault.Unavailable, err, "episode %s has no worktree here", id)
	}
	if rules, err = policy.For(worktree).Render(); err != nil {
		return "", nil, err
	}
	path := filepath.Join(h.policies, string(id)+".toml")
	if err := keep(path, rules); err != nil {
		return "", nil, fault.Wrap("tools: episode", fault.Unavailable, err, "the policy of episode %s cannot be written", id)
	}
	return worktree, rules, nil
}

func failed(err error) broker.Result {
	return broker.Result{Status: store.StatusFailed, Detail: fault.Public(err)}
}

// keep makes a file hold exactly these bytes, whole or not at all.
func keep(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
