package tools

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rs/zerolog"

	"world/broker"
	"world/broker/law"
	"world/confine"
	"world/coordinator/plan"
	"world/fault"
	"world/store"
	"world/tools/lang"
	"world/tools/policy"
)

// Options is what a handler needs.
type Options struct {
	Jail          *confine.Jail
	Tool          string        // path of the tool binary; "" is the jail's first stage, world-tool itself
	StateDir      string        // absolute; policies are rendered below it
	WorkspaceRoot string        // absolute; an episode's worktree is the directory of its name
	Examples      string        // absolute; a corpus of examples, "" for the one that world-tool has
	AllowCaps     []string      // capabilities of runs beyond the usual: Env, Net
	NetAllow      []string      // addresses that runs with Net may connect to, by policy.ParseNetAllow
	Floor         confine.Level // of file operations, default landlock; programs need namespaces (D26)
	Log           zerolog.Logger
}

// Handler carries out the effects of the coding tools.
type Handler struct {
	jail     *confine.Jail
	tool     *confine.Image // nil: the first stage
	ref      store.Ref
	beside   []string // where python3 and the tool lie, when that is none of the system's directories
	said     *said    // what the tool says it does; nil until Check, and without a tool
	state    string   // without links, as is root
	root     string
	policies string
	examples string // likewise, "" for none
	allow    []string
	netAllow []string
	floor    confine.Level
	log      zerolog.Logger
}

var _ broker.Handler = (*Handler)(nil)

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
	h := &Handler{jail: o.Jail, ref: o.Jail.Stage().Ref, floor: o.Floor, log: o.Log, allow: o.AllowCaps, netAllow: o.NetAllow}
	if err := h.place(o.StateDir, o.WorkspaceRoot, o.Examples); err != nil {
		return nil, err
	}
	if err := h.checkCaps(); err != nil {
		return nil, err
	}
	h.show(confine.Prefix(lang.PythonPath))
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
	h.showBeside(o.Tool)
	return h, nil
}

// showBeside lets runs see the directory of a tool that may start another one, if it
// keeps nothing from anybody: an ordinary operator's programs may read what is his alone.
func (h *Handler) showBeside(tool string) {
	path, err := filepath.Abs(tool)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	switch dir := filepath.Dir(path); {
	case err != nil:
	case os.Geteuid() != 0 && !confine.IsForAll(dir):
		h.log.Warn().Msg("the tool's directory holds what not everybody may read, or too much to tell: runs do not see it, and a tool that starts another program needs a directory of its own")
	default:
		h.show(dir)
	}
}

// show lets runs see a directory, "" for none, unless it holds what must stay hidden.
func (h *Handler) show(dir string) {
	if dir != "" && h.jail.CanShow(dir, []string{h.state, h.root}, confine.UserOf("")) {
		h.beside = append(h.beside, dir)
	}
}

// Effects returns the effects that the handler serves, sorted.
func (h *Handler) Effects() []law.Effect {
	return slices.Sorted(maps.Keys(served))
}

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
	if served[job.Effect].runs {
		return h.run(ctx, job)
	}
	request, problem := h.admit(job.Effect, job.Payload)
	if problem != "" {
		return refusedFor(problem)
	}
	if refusal := h.noCorpus(request); refusal != nil {
		return broker.Result{Status: store.StatusSucceeded, Output: refusal}
	}
	worktree, err := h.worktree(job.Episode)
	if err != nil {
		return h.unstarted(job, err)
	}
	rules, err := h.keepPolicy(string(job.Episode), policy.For(worktree))
	if err != nil {
		return h.unstarted(job, err)
	}
	spec := h.spec(job, worktree, rules, request)
	result, err := h.jail.Run(ctx, spec)
	if err != nil {
		return h.unstarted(job, err)
	}
	h.trace(job, result)
	return h.judge(job.Effect, request, result, spec.Overlay != nil, worktree, policy.Digest(rules))
}

// refusedFor ends an effect that the handler would refuse again.
func refusedFor(problem string) broker.Result {
	return broker.Result{Status: store.StatusFailed, Detail: plan.Lasting + problem}
}

func (h *Handler) unstarted(job broker.Job, err error) broker.Result {
	h.log.Error().Err(err).Str("intent", job.Intent).Msg("tool not started")
	if served[job.Effect].runs && h.jail.Reach().Level < confine.Namespaces {
		return refusedFor(fault.Public(err)) // what a machine does not reach, no call does
	}
	return broker.Result{Status: store.StatusFailed, Detail: fault.Public(err)}
}

func (h *Handler) trace(job broker.Job, r confine.Result) {
	h.log.Debug().Str("intent", job.Intent).Stringer("level", r.Level).Int("exit", r.Exit).
		Str("bound", string(r.Bound)).Dur("elapsed", r.Elapsed).Bytes("stderr", r.Stderr).Msg("tool ended")
}
