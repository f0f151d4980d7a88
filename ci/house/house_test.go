// Package house holds the tests that keep the house in order: which room may
// import which, who may call whom, and what every tracked file must and must
// not hold.
package house_test

import (
	"go/types"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// floors lists the rooms from the ground up; a room imports rooms of lower
// floors, and its own. The longest matching prefix places a package.
var floors = [][]string{
	{"broker/law", "fault"},
	{"canon", "spec", "infile", "rootwalk"},
	{"store", "z3"},
	{"store/record", "store/rows", "store/batch"},
	{"store/sqlite", "store/postgres", "store/fsck", "store/why", "store/handover", "confine"},
	{"session", "store/engine", "store/transfer", "store/storetest"},
	{"broker"},
	{"coordinator"},
	{"tools", "drift", "proptest"},
	{"daemon"},
	{"cmd", "ci"},
}

// solverRooms alone may reach package z3: the daemon needs no solver.
var solverRooms = []string{"z3", "drift", "cmd/world-law"}

// loaded reads the whole house once.
var loaded = sync.OnceValues(func() ([]*packages.Package, error) {
	mode := packages.NeedName | packages.NeedImports | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedDeps
	return packages.Load(&packages.Config{Mode: mode}, "world/...")
})

func load(t *testing.T) []*packages.Package {
	t.Helper()
	pkgs, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(pkgs) > 0 {
		t.Fatal("packages do not load")
	}
	if len(pkgs) < 15 {
		t.Fatalf("%d packages loaded: the pattern finds too little", len(pkgs))
	}
	return pkgs
}

// place returns a package's floor and room.
func place(path string) (floor int, room string) {
	path = strings.TrimPrefix(path, "world/")
	floor = -1
	for i, rooms := range floors {
		for _, r := range rooms {
			if (path == r || strings.HasPrefix(path, r+"/")) && len(r) > len(room) {
				floor, room = i, r
			}
		}
	}
	return floor, room
}

func TestRoomsImportOnlyBelow(t *testing.T) {
	imports := 0
	for _, p := range load(t) {
		from, room := place(p.PkgPath)
		if from < 0 {
			t.Errorf("%s stands on no floor: add its room to the list", p.PkgPath)
		}
		for path := range p.Imports {
			if !strings.HasPrefix(path, "world/") {
				if room == "broker/law" && strings.Contains(path, ".") {
					t.Errorf("broker/law imports %s: the law imports the standard library at most", path)
				}
				continue
			}
			imports++
			to, toRoom := place(path)
			if to >= from && toRoom != room {
				t.Errorf("%s (floor %d) imports %s (floor %d)", p.PkgPath, from, path, to)
			}
			if toRoom == "z3" && !within(p.PkgPath, solverRooms) {
				t.Errorf("%s imports %s: only %v may need a solver", p.PkgPath, path, solverRooms)
			}
		}
	}
	if imports < 20 {
		t.Fatalf("%d imports between rooms seen: the check finds too little", imports)
	}
}

// TestOnlyTheBrokerCallsAHandler finds each call of the Handle method of
// broker.Handler, and each call into the broker from above.
func TestOnlyTheBrokerCallsAHandler(t *testing.T) {
	pkgs := load(t)
	handler := interfaceNamed(t, pkgs, "world/broker", "Handler")
	calls := 0
	for _, p := range pkgs {
		for expr, selection := range p.TypesInfo.Selections {
			if selection.Obj().Name() != "Handle" || expr.Sel.Name != "Handle" {
				continue
			}
			recv := selection.Recv()
			if !types.Implements(recv, handler) && !types.Implements(types.NewPointer(recv), handler) {
				continue
			}
			calls++
			if p.PkgPath != "world/broker" {
				t.Errorf("%s: only the broker calls a handler", p.Fset.Position(expr.Pos()))
			}
		}
		if _, room := place(p.PkgPath); room == "daemon" {
			for path := range p.Imports {
				if path == "world/broker" {
					t.Errorf("%s imports the broker: only the coordinator calls it", p.PkgPath)
				}
			}
		}
	}
	if calls == 0 {
		t.Fatal("no call of a handler found: the check finds too little")
	}
}

func interfaceNamed(t *testing.T, pkgs []*packages.Package, path, name string) *types.Interface {
	t.Helper()
	for _, p := range pkgs {
		if p.PkgPath == path {
			if o := p.Types.Scope().Lookup(name); o != nil {
				return o.Type().Underlying().(*types.Interface)
			}
		}
	}
	t.Fatalf("%s.%s not found", path, name)
	return nil
}

func within(path string, rooms []string) bool {
	path = strings.TrimPrefix(path, "world/")
	for _, r := range rooms {
		if path == r || strings.HasPrefix(path, r+"/") {
			return true
		}
	}
	return false
}
