package sqlite_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"world/fault"
	"world/store"
	"world/store/sqlite"
)

// closed makes a store that was closed as it should be.
func closed(t *testing.T) (path string, ref store.Ref) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "world.db")
	s := open(t, path, sqlite.Options{})
	ref = keep(t, s, "kept")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path, ref
}

func names(t *testing.T, path string) (all []string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		all = append(all, f.Name())
	}
	return all
}

// TestPartsOfAStore leaves something of a store that SQLite would take for an
// empty database, or play back into it.
func TestPartsOfAStore(t *testing.T) {
	for _, tt := range []struct {
		what, says string
		change     func(t *testing.T, path string)
	}{
		{"empty", "world.db is empty", func(t *testing.T, path string) { write(t, path, nil) }},
		{"empty with a log", "world.db is empty", func(t *testing.T, path string) {
			write(t, path, nil)
			write(t, path+"-wal", []byte("log"))
		}},
		{"gone but for the log", "world.db is missing", func(t *testing.T, path string) {
			write(t, path+"-wal", []byte("log"))
			os.Remove(path)
		}},
		{"a journal", "world.db-journal lies beside the store", func(t *testing.T, path string) {
			write(t, path+"-journal", []byte("a journal of something else"))
		}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			path, _ := closed(t)
			tt.change(t, path)
			before := names(t, path)
			for _, opts := range []sqlite.Options{{ReadOnly: true}, {}} {
				if err := wantRefused(t, path, opts, fault.Corrupt); !strings.Contains(fault.Public(err), tt.says) {
					t.Errorf("%+v: %v", opts, err)
				}
			}
			if _, err := sqlite.Exists(path); !fault.Is(err, fault.Corrupt) {
				t.Errorf("exists: %v", err)
			}
			if after := names(t, path); !slices.Equal(before, after) {
				t.Errorf("a refusal left %v of %v", after, before)
			}
		})
	}
	path, _ := closed(t)
	if exists, err := sqlite.Exists(path); err != nil || !exists {
		t.Errorf("a whole store: %v, %v", exists, err)
	}
	for _, none := range []string{filepath.Join(t.TempDir(), "world.db"), "/no/folder/world.db"} {
		if exists, err := sqlite.Exists(none); err != nil || exists {
			t.Errorf("no store: %v, %v", exists, err)
		}
	}
	if _, err := sqlite.Exists(t.TempDir()); !fault.Is(err, fault.NotFound) {
		t.Errorf("a folder: %v", err)
	}
}

// TestNoTables: a database without tables is what is left of a store whose log
// was lost, not a place to begin one.
func TestNoTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	header := read(t, func() string { p, _ := closed(t); return p }())[:100]
	copy(header[40:], make([]byte, 40)) // no schema, no version, no application
	page := append(header, 0x0d, 0, 0, 0, 0, 0x10, 0, 0)
	header[28], header[29], header[30], header[31] = 0, 0, 0, 1
	copy(page, header)
	write(t, path, append(page, make([]byte, 4096-len(page))...))
	if err := wantRefused(t, path, sqlite.Options{}, fault.Corrupt); !strings.Contains(fault.Public(err), "no tables") {
		t.Error(err)
	}
}

// TestHalfMade: a process killed while it made a store leaves none, and what it
// left is in nobody's way.
func TestHalfMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		write(t, path+".new"+suffix, []byte("half of it"))
	}
	wantRefused(t, path, sqlite.Options{ReadOnly: true}, fault.NotFound)
	keep(t, open(t, path, sqlite.Options{}), "kept")
	if left := names(t, path); slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, ".new") }) {
		t.Errorf("left: %v", left)
	}
}

// TestReadingLeavesNothing reads a closed store, beside another reader too.
func TestReadingLeavesNothing(t *testing.T) {
	path, ref := closed(t)
	before, bytes := names(t, path), read(t, path)
	one, two := open(t, path, sqlite.Options{ReadOnly: true}), open(t, path, sqlite.Options{ReadOnly: true})
	for _, s := range []*sqlite.Store{one, two} {
		if err := look(t, s, ref); err != nil {
			t.Error(err)
		}
	}
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	if err := look(t, two, ref); err != nil {
		t.Errorf("after another reader left: %v", err)
	}
	if err := two.Close(); err != nil {
		t.Error(err)
	}
	if after := names(t, path); !slices.Equal(before, after) || string(bytes) != string(read(t, path)) {
		t.Errorf("readers left %v of %v", after, before)
	}
	// Beside a writer the log stays, for it is the writer's.
	w := open(t, path, sqlite.Options{})
	r := open(t, path, sqlite.Options{ReadOnly: true})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	later := keep(t, w, "later")
	if err := look(t, open(t, path, sqlite.Options{ReadOnly: true}), later); err != nil {
		t.Errorf("what was written after a reader left: %v", err)
	}
}

// look reads an object and audits the engine.
func look(t *testing.T, s *sqlite.Store, ref store.Ref) error {
	t.Helper()
	if _, err := s.Object(t.Context(), ref); err != nil {
		return err
	}
	a, err := s.Audit(t.Context())
	if err != nil {
		return err
	}
	defer a.Close()
	if lines, err := a.Engine(t.Context()); err != nil || len(lines) > 0 {
		return fmt.Errorf("engine: %v, %v", lines, err)
	}
	return nil
}

// The environment of a process that reads from a mount of its own.
const (
	mountedPath = "WORLD_TEST_MOUNTED_DB"
	mountedRef  = "WORLD_TEST_MOUNTED_REF"
)

// TestReadOnlyMount reads from a mount that nobody can write: a store that was
// closed, and one that was killed, which is refused without its index.
func TestReadOnlyMount(t *testing.T) {
	if path := os.Getenv(mountedPath); path != "" {
		dir := filepath.Dir(path)
		var fs syscall.Statfs_t
		if err := syscall.Statfs(dir, &fs); err != nil {
			t.Fatal(err)
		}
		kept := uintptr(fs.Flags) & (syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC) // locked for us
		for _, flags := range []uintptr{syscall.MS_BIND, syscall.MS_BIND | syscall.MS_REMOUNT | syscall.MS_RDONLY | kept} {
			if err := syscall.Mount(dir, dir, "", flags, ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "written"), nil, 0o600); err == nil {
			t.Fatal("the mount can be written")
		}
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
		if err == nil {
			err = look(t, s, store.Ref(os.Getenv(mountedRef)))
			s.Close()
		}
		fmt.Println("read:", err)
		return
	}
	mounted := func(path string, ref store.Ref) string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReadOnlyMount$", "-test.v")
		cmd.Env = append(os.Environ(), mountedPath+"="+path, mountedRef+"="+string(ref))
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return string(out)
	}
	path, ref := closed(t)
	odd := filepath.Join(filepath.Dir(path), "a b?c=d#e%20f&g.db")
	write(t, odd, read(t, path))
	for _, name := range []string{path, odd} {
		if out := mounted(name, ref); !strings.Contains(out, "read: <nil>") {
			t.Errorf("a closed store: %s", out)
		}
	}
	im := newImage(t)
	if out := mounted(im.put(t, func(log []byte) []byte { return log }), im.refs[0]); !strings.Contains(out, "unavailable: the database file cannot be used") {
		t.Errorf("a killed store: %s", out)
	}
}
