package capsule_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"world/confine"
	"world/confine/confinetest"
	"world/coordinator/capsule"
	"world/fault"
	"world/store"
)

// acting is an interpreter of just enough AILANG to act: programs that answer with
// their input, or do one thing more. GRANTS lists what it grants unasked, and CALL
// is put before all else.
const acting = `#!/usr/bin/python3
import json, os, re, sys
CALL
args = sys.argv[1:]
if args[:1] != ["run"] or args[1:6] != ["--quiet", "--caps", "", "--entry", "main"] or args[6] != "--args-json":
    sys.exit("unknown command or flags: %r" % args)
value, path = json.loads(args[7]), args[8]
source = open(path).read()
if "module " + path[:-4] not in source:
    sys.exit("MOD010: the module does not match its path")
if os.environ != {"AILANG_FS_SANDBOX": os.getcwd(), "LC_CTYPE": "C.UTF-8"}:
    sys.exit("environment: %r" % dict(os.environ))
needs = re.search(r"! {(\w+)}", source)
if needs and needs[1] not in GRANTS:
    sys.exit("effect '%s' requires capability, but none provided" % needs[1])
if "fail" in source: sys.exit("Error: the secret of the program")
if "loop" in source:
    while True: pass
if "flood" in source: print("x" * (5 << 20))
if "println" in source: print("leaked")
print(value + "!")
`

// archived returns a runner whose archive holds an interpreter.
func archived(t *testing.T, program string, jail *confine.Jail) (*capsule.Jailed, store.Ref) {
	t.Helper()
	object := store.NewObject("world/interpreter/v1", "test", []byte(program))
	held := &objects{held: map[store.Ref]store.Object{object.Ref(): object}}
	archive, err := capsule.OpenArchive(filepath.Join(t.TempDir(), "archive"), held, unhealed(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { archive.Close() })
	return capsule.New(capsule.Options{Jail: jail, Archive: archive}), object.Ref()
}

func interpreting(grants, call string) string {
	return strings.NewReplacer("GRANTS", grants, "CALL", call).Replace(acting)
}

// TestProve: an interpreter that refuses what it was not granted is taken, by its
// tongue, and one that grants anything, or lies about refusing, is not.
func TestProve(t *testing.T) {
	tests := []struct {
		name, program, want string // "" where it is refused
		says                string
	}{
		{"honest", interpreting("()", ""), "ailang", ""},
		{"grants IO", interpreting(`("IO",)`, ""), "", "needs IO"},
		{"grants FS", interpreting(`("FS",)`, ""), "", "needs FS"},
		{"grants Env", interpreting(`("Env",)`, ""), "", "needs Env"},
		{"runs it, and says that it failed", interpreting("()", `if "println" in open(sys.argv[-1]).read(): print("leaked"); sys.exit(0)`), "", "needs IO"},
		{"refuses everything", interpreting("()", `sys.exit("no")`), "", "neither as world-tool does nor as AILANG does"},
		{"answers wrongly", interpreting("()", `print("x"); sys.exit(0)`), "", "neither"},
		{"is no interpreter", "#!/bin/sh\n", "", "neither"},
		{"is no program", "nothing", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			runner, ref := archived(t, test.program, confinetest.Jail(t, 0))
			name, err := runner.Prove(context.Background(), ref)
			if name != test.want || (err == nil) != (test.want != "") || err != nil && (!fault.Is(err, fault.Unavailable) || !strings.Contains(fault.Public(err), test.says)) {
				t.Errorf("%q, %v", name, err)
			}
			// A run needs the same proof.
			source := "module host/capsule/main\nexport func main(input: string) -> string { input ++ \"!\" }\n"
			got, err := runner.Run(context.Background(), capsule.Program{Interpreter: ref, Source: []byte(source)}, []byte("hello"))
			if test.want == "" && !fault.Is(err, fault.Unavailable) || test.want != "" && (err != nil || string(got) != "hello!") {
				t.Errorf("a run: %q, %v", got, err)
			}
		})
	}
	tool := confinetest.Image(t, confinetest.WorldTool)
	_, _, archive := setup(t)
	runner := capsule.New(capsule.Options{Jail: confinetest.Jail(t, 0), Archive: archive})
	if name, err := runner.Prove(context.Background(), tool.Ref); err != nil || name != "world-tool" {
		t.Errorf("this build's own: %q, %v", name, err)
	}
	if _, err := runner.Prove(context.Background(), store.RefOf([]byte("absent"))); !fault.Is(err, fault.Unavailable) {
		t.Errorf("an absent one: %v", err)
	}
}

// TestRunAilang: every end of a run means the same as in this build's interpreter.
func TestRunAilang(t *testing.T) {
	runner, ref := archived(t, interpreting("()", ""), confinetest.Jail(t, 0))
	run := func(body, input string) ([]byte, error) {
		source := "module host/capsule/main\nexport func main(input: string) -> string { " + body + " }\n"
		return runner.Run(context.Background(), capsule.Program{Interpreter: ref, Source: []byte(source)}, []byte(input))
	}
	for _, input := range []string{"", "plain", "\"quoted\" \\ <é>\n\x00", strings.Repeat("x", 100_000)} {
		if got, err := run("input", input); err != nil || string(got) != input+"!" {
			t.Errorf("%.20q: %.20q, %v", input, got, err)
		}
	}
	for _, test := range []struct {
		name, body, input string
		kind              fault.Kind
	}{
		{"failure", "fail", "", fault.Failed},
		{"a capability", "input } -- ! {IO}", "", fault.Failed},
		{"output", "flood", "", fault.Limit},
		{"an input that no argument holds", "input", strings.Repeat("x", 128<<10), fault.Limit},
	} {
		got, err := run(test.body, test.input)
		if !fault.Is(err, test.kind) || got != nil || strings.Contains(fault.Public(err), "secret") {
			t.Errorf("%s: %.20q, %v", test.name, got, err)
		}
	}
	// It is not our own code: what suffices for that is not enough.
	runner, ref = archived(t, interpreting("()", ""), confinetest.Jail(t, confine.Landlock))
	if got, err := run("input", "x"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("below namespaces: %q, %v", got, err)
	}
}
