package guards

// The guards, by the room that they stand in. Several in one name stand behind each
// other: the acts that name them get through only when all of them are gone.
const (
	PathRefusal     Guard = "tools/transitions path_refusal"
	Arguments       Guard = "tools/transitions arguments_refusal"
	ArgumentsOfRuns Guard = "tools/transitions arguments_refusal, and tools admitRun"

	LinkTargets    Guard = "tools/policytool step: no absolute link"
	WayUp          Guard = "tools/policytool up: no way above the worktree"
	WhereLinksLead Guard = "tools/policytool locateUnless: the law where links lead"
	NewFile        Guard = "tools/policytool replace: a new file in the place of the name"
	Swaps          Guard = "tools/policytool openSame, and confine mounts"

	ProtectedNames Guard = "tools/policy Protection: protected names"
	ProtectedAtTop Guard = "tools/policy Protection: protected names, and the policy's patterns"
	Repositories   Guard = "tools/policy Protection: .git"
	Fold           Guard = "tools/policy fold, and the policy's patterns"

	Judge      Guard = "tools/overlay add: the law for what is changed"
	JudgeBelow Guard = "tools/overlay below: the law for what goes with its folder"
	JudgeLinks Guard = "tools/overlay link: no link leads out"

	Rest             Guard = "confine mounts: the system's directories, and nothing else of /"
	RestAndSockets   Guard = "confine mounts: the system's directories, and the filter of sockets"
	Around           Guard = "confine mounts: what lies around the worktree has no name inside"
	AroundAndLayer   Guard = "confine mounts, and the layer that is another mount"
	AroundAndSockets Guard = "confine mounts, and the filter of sockets"
	OperatorSocket   Guard = "confine mounts, the filter of sockets, and the modes of daemon/admin"
	Network          Guard = "confine network namespace, the filter of sockets, and the proof at start"
	Descriptors      Guard = "confine begin: no descriptor outlives the first stage"
	Undumpable       Guard = "confine supervise: the first stage cannot be looked into"
	Levels           Guard = "tools run's floor, and the layer that needs its level"

	Hooks           Guard = "session/worktree git: core.hooksPath"
	HooksOfCheckout Guard = "session/worktree git: core.hooksPath, and Add: --no-checkout"
	Filters         Guard = "session/worktree: the repository's own filters are not asked"
	Monitor         Guard = "session/worktree git: core.fsmonitor, and Add: --no-checkout"

	Interpreters Guard = "coordinator/capsule prove: what was not granted is refused"
)

// Edits that several removals share.
var (
	// The folder around the worktree is mounted in the worktree's place.
	around = Edit{"confine/mounts.go", "args = append(args, bind, v.worktree, v.worktree)",
		"around := filepath.Dir(filepath.Dir(v.worktree)); args = append(args, bind, around, around)"}
	rest = Edit{"confine/mounts.go", "args = append(args, system...)", `args = append(args, append(system[:0], "--ro-bind", "/", "/")...)`}
	// A path leads where it leads any program of the host.
	follow = Edit{"tools/policytool/tree.go", "w, err := t.follow(path)", `to := path
	if target, err := os.Readlink(path); err == nil {
		to = target
	}
	at := strings.LastIndexByte(to, '/') + 1
	above := to[:at]
	if above == "" {
		above = "."
	}
	if dir, err := os.OpenRoot(above); err == nil {
		info, _ := dir.Lstat(to[at:])
		return place{dir, to[at:], path, info}, nil
	}
	w, err := t.follow(path)`}
	sockets  = Edit{"confine/filter.go", "if !sockets {", "if false {"}
	patterns = Edit{"tools/policy/protect.go", "if denies(l.folded[i], folded) {", "if false {"}
	names    = Edit{"tools/policy/protect.go", "if slices.Contains(protectedDirs, part) {", "if false {"}
	anyPath  = Edit{"tools/transitions/prelude.star", "arguments_refusal(args) or path_refusal(args) or", "arguments_refusal(args) or"}
	unknown  = []Edit{
		{"tools/transitions/prelude.star", "if name not in ADMITS:", "if False:"},
		{"tools/transitions/prelude.star", "if not is_kind(args[name], ADMITS[name]):", "if name in ADMITS and not is_kind(args[name], ADMITS[name]):"},
	}
	hooks    = Edit{"session/worktree/git.go", `"-c", "core.hooksPath=/dev/null",`, ""}
	checkout = Edit{"session/worktree/add.go", `"worktree", "add", "--no-checkout"`, `"worktree", "add"`}
)

// Removals takes out each guard; one that can fall in several ways is here as often.
var Removals = []Removal{
	{Guard: PathRefusal, Tests: "TestRowsOfRequests", Edits: []Edit{anyPath}},
	{Guard: PathRefusal, Tests: "TestRowsOfRequests", Edits: []Edit{anyPath, follow, around}, Harm: true},
	{Guard: Arguments, Tests: "TestRowsOfRequests", Edits: unknown},
	{Guard: ArgumentsOfRuns, Tests: "TestRowsOfRequests", Edits: append([]Edit{
		{"tools/order.go", `return bad("unknown key %q", m.Name)`, "ok = true"}}, unknown...)},

	{Guard: LinkTargets, Tests: "TestRowsOfRequests", Edits: []Edit{
		{"tools/policytool/tree.go", `(target == "" || strings.HasPrefix(target, "/"))`, `target == ""`}}},
	{Guard: LinkTargets, Tests: "TestRowsOfRequests", Edits: []Edit{follow, around}, Harm: true},
	{Guard: WayUp, Tests: "TestRowsOfRequests", Edits: []Edit{
		{"tools/policytool/tree.go", "if len(w.dirs) == 1 {\n\t\treturn errEscapes", "if len(w.dirs) == 1 {\n\t\treturn nil"}}},
	{Guard: WayUp, Tests: "TestRowsOfRequests", Edits: []Edit{follow, around}, Harm: true},
	{Guard: WhereLinksLead, Tests: "TestRowsOfRequests", Edits: []Edit{
		{"tools/policytool/files.go", "forbids(p.path)", "forbids(path)"}}, Harm: true},
	{Guard: NewFile, Tests: "TestRowsOfRequests", Edits: []Edit{
		{"tools/policytool/content.go", "name := confine.Aside()", "name, _ := p.name, confine.Aside"},
		{"tools/policytool/content.go", "os.O_CREATE|os.O_EXCL", "os.O_CREATE|os.O_TRUNC"}}, Harm: true},
	{Guard: Swaps, Tests: "TestRowSwap", Edits: []Edit{around,
		{"tools/policytool/tree.go", "here.OpenRoot(name)", "os.OpenRoot(name)"},
		{"tools/policytool/tree.go", "|| !os.SameFile(opened, info)", "|| opened == nil"}}, Harm: true},

	{Guard: ProtectedNames, Tests: "TestRowsOfRequests", Edits: []Edit{names}, Harm: true},
	{Guard: ProtectedAtTop, Tests: "TestRowsOfRequests", Edits: []Edit{names, patterns}, Harm: true},
	{Guard: Repositories, Tests: "TestRowsOfRequests", Edits: []Edit{
		{"tools/policy/protect.go", "if part == gitDir {", "if false {"}}, Harm: true},
	{Guard: Fold, Tests: "TestRowsOf(Requests|Changes)", Edits: []Edit{patterns,
		{"tools/policy/protect.go", "parts[i] = fold(part)", "parts[i] = part"}}, Harm: true},

	{Guard: Judge, Tests: "TestRowsOfChanges", Edits: []Edit{
		{"tools/overlay/judge.go", "j.law.Protection(s.Path)", `j.law.Protection("")`}}, Harm: true},
	{Guard: JudgeBelow, Tests: "TestRowsOfChanges", Edits: []Edit{
		{"tools/overlay/deletions.go", "j.law.Protection(name)", `j.law.Protection("")`}}, Harm: true},
	{Guard: JudgeLinks, Tests: "TestRowsOfChanges", Edits: []Edit{
		{"tools/overlay/links.go", `case part == ".." || part == "" || !utf8`, `case false && !utf8`}}},

	{Guard: Rest, Tests: "TestRowsBeside", Edits: []Edit{rest}, Harm: true},
	{Guard: RestAndSockets, Tests: "TestRowsBeside", Edits: []Edit{rest, sockets}},
	{Guard: Around, Tests: "TestRowsOfPrograms", Edits: []Edit{around}, Harm: true},
	{Guard: AroundAndLayer, Tests: "TestRowsOfPrograms", Edits: []Edit{around,
		{"confine/layer.go", `if err := unix.Mount("overlay", o.Worktree, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {`,
			`if err := error(nil); options == "" {`},
		{"confine/probe.go", "r.overlay = j.attackThroughOverlay(target)", `r.overlay = ""`}}},
	{Guard: AroundAndSockets, Tests: "Test(RowsOfPrograms|Doors)$", Edits: []Edit{around, sockets}},
	{Guard: OperatorSocket, Tests: "TestDoors$", Edits: []Edit{around, sockets,
		{"ci/rig/rig.go", "w.State(): 0o700", "w.State(): 0o755"},
		{"daemon/admin/socket.go", "st.Mode&0o7777 != 0o700", "st.Mode == 0"},
		{"daemon/admin/socket.go", "folderName), 0o700)", "folderName), 0o755)"},
		{"daemon/admin/socket.go", "return &Listener{l, f}, nil", "return &Listener{l, f}, os.Chmod(f.address().Name, 0o777)"}}},
	{Guard: Network, Tests: "TestDoors$", Edits: []Edit{sockets,
		{"confine/fence.go", `"--unshare-user", "--unshare-all",`, `"--unshare-user", "--unshare-all", "--share-net",`},
		{"confine/probe.go", "if err == nil && got == (attack{}) {", "if err == nil {"}}},
	{Guard: Descriptors, Tests: "TestRowsOfPrograms", Edits: []Edit{
		{"confine/stage.go", "unix.CloseRange(3, 1<<31, unix.CLOSE_RANGE_CLOEXEC)", "error(nil)"}}},
	{Guard: Undumpable, Tests: "TestRowsOfPrograms", Edits: []Edit{
		{"confine/supervise.go", "unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)", "error(nil)"}}, Harm: true},
	{Guard: Levels, Tests: "TestDoorsOfLowerLevels", Edits: []Edit{
		{"tools/run.go", "s.Floor = confine.Namespaces", "s.Floor = confine.Process"},
		{"tools/run.go", "s.Overlay = taking(rules)", "if h.jail.Reach().Level == confine.Namespaces { s.Overlay = taking(rules) }"}}},

	{Guard: Hooks, Tests: "TestRepository", Edits: []Edit{hooks}},
	{Guard: HooksOfCheckout, Tests: "TestRepository", Edits: []Edit{hooks, checkout}},
	{Guard: Filters, Tests: "TestRepository", Edits: []Edit{checkout}},
	{Guard: Filters, Tests: "TestRepository", Edits: []Edit{
		{"session/worktree/add.go", `return w.git.checkout(ctx, w.common, w.Commit, w.Path, filepath.Join(admin, "index"))`,
			`_, err = w.git.run(ctx, "-C", w.Path, "reset", "--hard"); return err`}}},
	{Guard: Monitor, Tests: "TestRepository", Edits: []Edit{checkout,
		{"session/worktree/git.go", `"-c", "core.fsmonitor=false",`, ""}}},

	{Guard: Interpreters, Tests: "TestInterpreter", Edits: []Edit{
		{"coordinator/capsule/tongue.go", "if !fault.Is(err, fault.Failed) {", "if false {"}}},
}
