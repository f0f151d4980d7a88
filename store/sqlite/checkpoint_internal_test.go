package sqlite

import (
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"world/store"
)

func keepOne(t *testing.T, s *Store, body string) {
	t.Helper()
	if err := s.Keep(t.Context(), []store.Object{store.NewObject("test", "test", []byte(body))}); err != nil {
		t.Error(err)
	}
}

// TestMovesAfterATime: what was committed comes into the file though little is
// written, and the log begins anew behind it, with nothing but a fence.
func TestMovesAfterATime(t *testing.T) {
	s := openInternal(t)
	fences := func() (n int64) {
		t.Helper()
		if err := s.readers.read(t.Context(), "test", func(c *conn) (err error) {
			n, err = readMeta(c, metaFence)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	w := s.writer
	close(w.cleaner.quit)
	<-w.cleaner.stopped
	w.cleaner.quit, w.cleaner.stopped = make(chan struct{}), make(chan struct{})
	go w.cleaner.loop(time.Millisecond)
	for n := range int64(3) {
		keepOne(t, s, "object "+strconv.FormatInt(n, 10))
		for deadline := time.Now().Add(10 * time.Second); fences() <= n; {
			if time.Now().After(deadline) {
				t.Fatalf("nothing was moved after commit %d", n)
			}
		}
	}
	count := fences()
	for range 20 { // nothing to move, nothing written
		if w.cleaner.moveAll(); fences() != count {
			t.Fatal("an idle store writes fences")
		}
	}
	// The log is one fence long: header, and the frames of one row and its page.
	// Nobody reads meanwhile, for a reader keeps the log from beginning anew.
	keepOne(t, s, strings.Repeat("the last ", 3000))
	for deadline := time.Now().Add(10 * time.Second); framesInUse(t, s) > 2; {
		if time.Now().After(deadline) {
			t.Fatalf("%d frames of the log are in use", framesInUse(t, s))
		}
	}
}

// framesInUse counts the frames that follow a log's header and carry its salts.
func framesInUse(t *testing.T, s *Store) (n int) {
	t.Helper()
	b := logBytes(t, s)
	l, ok := parseLog(b[:logHeader])
	if !ok {
		t.Fatal("the log has no header")
	}
	for at := logHeader; at+frameHeader <= len(b) && l.salts == binary.BigEndian.Uint64(b[at+8:]); at += frameHeader + l.page {
		n++
	}
	return n
}

// TestLogWalkBesideWriters walks a log that is written and begun anew all the
// time: nothing half written is called damage.
func TestLogWalkBesideWriters(t *testing.T) {
	s := openInternal(t)
	done := make(chan struct{})
	var writers sync.WaitGroup
	for n := range 2 {
		writers.Go(func() {
			for i := range 150 {
				keepOne(t, s, strconv.Itoa(n)+" "+strconv.Itoa(i))
				if i%10 == 0 {
					s.writer.queue.Between(func() { checkpoint(s.writer.c, "PASSIVE") })
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	begun := map[string]bool{} // headers
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		if err := checkLog(s.path); err != nil {
			t.Fatal(err)
		}
		if head := logBytes(t, s); len(head) >= logHeader {
			begun[string(head[:logHeader])] = true
		}
	}
	if len(begun) < 5 {
		t.Errorf("the log was begun anew only %d times", len(begun))
	}
}

// TestAuditWalksTheLog damages the log of a store that is open. What SQLite reads
// through its index it does not compare with checksums.
func TestAuditWalksTheLog(t *testing.T) {
	s := openInternal(t)
	for n := range 3 {
		keepOne(t, s, strconv.Itoa(n))
	}
	examine := func() []string {
		t.Helper()
		a, err := s.Audit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		lines, err := a.Engine(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	if lines := examine(); len(lines) > 0 {
		t.Fatalf("an undamaged log: %v", lines)
	}
	b := logBytes(t, s)
	b[logHeader+frameHeader-1] ^= 1 // of the first frame's checksum
	if err := os.WriteFile(s.path+logSuffix, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if lines := examine(); len(lines) != 1 || !strings.Contains(lines[0], "world.db-wal: frame 1 does not hold") {
		t.Errorf("a damaged log: %v", lines)
	}
}

func logBytes(t *testing.T, s *Store) []byte {
	t.Helper()
	b, err := os.ReadFile(s.path + logSuffix)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
