package drift

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"world/z3"
)

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// built compiles world-law with an edit of one file of broker/law laid over the
// tree, or with none.
func built(t *testing.T, file, old, new string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "world-law")
	args := []string{"build", "-o", out}
	if file != "" {
		path := filepath.Join(root(t), "broker", "law", file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), old) != 1 {
			t.Fatalf("%s does not hold %q once", file, old)
		}
		edited := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(edited, []byte(strings.Replace(string(text), old, new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: edited}})
		if err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(t.TempDir(), "overlay.json")
		if err := os.WriteFile(list, overlay, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-overlay", list)
	}
	build := exec.Command("go", append(args, "world/cmd/world-law")...)
	build.Dir = root(t)
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

// goEdits are small mistakes in the Go law; sampling alone must meet each.
var goEdits = []struct{ name, file, old, new string }{
	{"none", "", "", ""},
	{"live at the expiry", "decide.go", "r.Now >= g.ExpiresAt", "r.Now > g.ExpiresAt"},
	{"live before time", "decide.go", "r.Now < 0 || ", ""},
	{"scope before effect", "decide.go",
		"\tif g.Effect != r.Effect {\n\t\treturn DeniedEffectName\n\t}\n\tif g.Scope != r.Scope {\n\t\treturn DeniedScope\n\t}\n",
		"\tif g.Scope != r.Scope {\n\t\treturn DeniedScope\n\t}\n\tif g.Effect != r.Effect {\n\t\treturn DeniedEffectName\n\t}\n"},
	{"last among ties", "decide.go", "v > best.Verdict", "v >= best.Verdict"},
	{"two labels swapped", "law.go", `return "denied:scope"`, `return "denied:expired"`},
	{"negative spend refills", "seed.go", "if spent <= 0 {\n\t\treturn budget\n\t}\n", ""},
	{"sums wrap", "seed.go", "\tif a > maxSpend-b {\n\t\treturn maxSpend\n\t}\n", ""},
}

func TestSamplingMeetsMistakesInGo(t *testing.T) {
	for _, edit := range goEdits {
		t.Run(edit.name, func(t *testing.T) {
			var out bytes.Buffer
			drift := exec.Command(built(t, edit.file, edit.old, edit.new), "drift", "--inputs", "40000", "--seed", "7")
			drift.Stdout, drift.Stderr = &out, &out
			err := drift.Run()
			if code := drift.ProcessState.ExitCode(); edit.file == "" && code != 0 {
				t.Fatalf("the law as it is: exit %d: %s", code, &out)
			} else if edit.file != "" && code != 1 {
				t.Fatalf("exit %d, %v: the edit stays unseen: %s", code, err, &out)
			}
			if edit.file != "" && !strings.Contains(out.String(), "the model") {
				t.Fatalf("the report does not show the difference: %s", &out)
			}
		})
	}
}

// The same mistakes in the model make the same test red.
func TestSamplingMeetsMistakesInTheModel(t *testing.T) {
	for _, edit := range []struct{ name, file, old, new string }{
		{"live at the expiry", "decision", "(lt (now r) (expires g))", "(le (now r) (expires g))"},
		{"live before time", "decision", "(le zero (now r)) ", ""},
		{"last among ties", "decision", "(< (rank (verdict d))", "(<= (rank (verdict d))"},
		{"label", "decision", `"denied:scope"`, `"denied:Scope"`},
		{"seed", "seeding", "(ite (le spent zero) b", "(ite (le spent zero) zero"},
	} {
		t.Run(edit.name, func(t *testing.T) {
			b := book(t)
			was, ok := b.File(edit.file)
			if !ok || strings.Count(was.Text, edit.old) != 1 {
				t.Fatalf("the model %s does not hold %q once", edit.file, edit.old)
			}
			b = b.With(edit.file, strings.Replace(was.Text, edit.old, edit.new, 1))
			run := Run{Seed: 7, Inputs: 20_000, Solvers: []z3.Program{z3.Z3("z3")}, Limit: time.Minute}
			_, err := Sample(context.Background(), b, run)
			if d := (*Difference)(nil); !errors.As(err, &d) || !strings.Contains(d.What, "the model") {
				t.Fatalf("got %v, want a difference", err)
			}
		})
	}
}
