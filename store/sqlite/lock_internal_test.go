package sqlite

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"world/fault/await"
)

// A reader by another name of the file sees whether its writer lives: what runs
// must not be called lost.
func TestAWriterIsSeenByAnotherName(t *testing.T) {
	path, link := filepath.Join(t.TempDir(), "world.db"), filepath.Join(t.TempDir(), "linked.db")
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), "WORLD_TEST_VICTIM_DB="+path, "WORLD_TEST_VICTIM_ROUND=0")
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	defer writer.Wait()
	defer writer.Process.Kill()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	f, err := enter(link)
	if err != nil {
		t.Fatal(err)
	}
	defer f.leave(false)
	if nameLocked(link) || !f.written(link) {
		t.Errorf("locked by name %v, by file %v: want the file alone", nameLocked(link), f.written(link))
	}
	writer.Process.Kill()
	await.That(t, "a killed writer is not seen any more", func() bool { return !f.written(link) })
}

// Our own descriptors of a file outlive every store of it: closing one earlier
// would let go of what SQLite has locked.
func TestDescriptorsStayForTheLastStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "world.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	reader, err := Open(t.Context(), path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	f := s.file
	if reader.file != f {
		t.Fatal("one file is counted twice")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.locker.Stat(); err != nil || f.written(path) {
		t.Errorf("beside a reader: %v, written %v", err, f.written(path))
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.locker.Stat(); err == nil || len(files.open) != 0 {
		t.Errorf("after the last store: %v, %d files", err, len(files.open))
	}
}
