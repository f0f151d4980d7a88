package tools

import (
	"os"
	"path/filepath"
	"testing"

	"world/confine"
	"world/confine/confinetest"
	"world/fault"
)

func TestNewHandlerRefuses(t *testing.T) {
	jail := confinetest.Jail(t, confine.Namespaces)
	base := confinetest.Dir(t)
	at := func(name string) string { return filepath.Join(base, name) }
	if err := os.MkdirAll(at("root/inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("linked"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "root/inside", "root-link": "root", "linked/policies": "../root/inside"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, state, root string
		kind              fault.Kind
	}{
		{"state in root", at("root/state"), at("root"), fault.Invalid},
		{"state is root", at("root"), at("root"), fault.Invalid},
		{"state leads into root", at("link"), at("root"), fault.Invalid},
		{"state below a link into root", at("link/state"), at("root"), fault.Invalid},
		{"root is a link", at("root/state"), at("root-link"), fault.Invalid},
		{"policies lead into root", at("linked"), at("root"), fault.Invalid},
		{"relative", "state", at("root"), fault.Invalid},
		{"not clean", at("x") + "/../state", at("root"), fault.Invalid},
	}
	for _, test := range tests {
		if _, err := NewHandler(Options{Jail: jail, StateDir: test.state, WorkspaceRoot: test.root}); !fault.Is(err, test.kind) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	for name, o := range map[string]Options{
		"examples in root":           {Examples: at("root/inside")},
		"examples lead into root":    {Examples: at("link")},
		"examples are root":          {Examples: at("root")},
		"relative examples":          {Examples: "corpus"},
		"an unknown capability":      {AllowCaps: []string{"Root"}},
		"a capability of every run":  {AllowCaps: []string{"FS"}},
		"a capability twice":         {AllowCaps: []string{"Env", "Env"}},
		"Net without addresses":      {AllowCaps: []string{"Net"}},
		"addresses without Net":      {NetAllow: []string{"127.0.0.1:80"}},
		"an address beyond loopback": {AllowCaps: []string{"Net"}, NetAllow: []string{"192.0.2.1:80"}},
	} {
		o.Jail, o.StateDir, o.WorkspaceRoot = jail, at("state"), at("root")
		if _, err := NewHandler(o); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewHandler(Options{Jail: jail, StateDir: at("state"), WorkspaceRoot: at("root"), Examples: at("none")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("examples that are not there: %v", err)
	}
	good := Options{
		Jail: jail, StateDir: at("state"), WorkspaceRoot: at("root"), Examples: at("root-corpus"),
		AllowCaps: []string{"Net", "Env"}, NetAllow: []string{"127.0.0.1:80"},
	}
	if err := os.Mkdir(good.Examples, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := NewHandler(good); err != nil {
		t.Errorf("control: %v", err)
	}
	for _, made := range []string{"root/state", "root/policies", "root/inside/state", "root/inside/policies"} {
		if _, err := os.Lstat(at(made)); err == nil {
			t.Errorf("a refusal made %s", made)
		}
	}
	if _, err := NewHandler(Options{Jail: jail, StateDir: at("root-evil"), WorkspaceRoot: at("root")}); err != nil {
		t.Errorf("a name that only begins alike: %v", err)
	}
	if _, err := NewHandler(Options{Jail: jail, StateDir: at("state"), WorkspaceRoot: at("root"), Tool: at("none")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no tool: %v", err)
	}
	low := confinetest.Jail(t, confine.Process)
	if _, err := NewHandler(Options{Jail: low, StateDir: at("state"), WorkspaceRoot: at("root")}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("below the floor: %v", err)
	}
	if os.Geteuid() == 0 {
		closed := at("closed")
		if err := os.Mkdir(closed, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := NewHandler(Options{Jail: jail, StateDir: at("state"), WorkspaceRoot: filepath.Join(closed, "root")}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a root that no user can walk to: %v", err)
		}
	}
}
