package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"world/ci/rig"
	"world/store/engine"
	"world/store/postgres/pgtest"
	"world/store/transfer"
)

// The journals of releases: what a build of that time left, as NAME.db.gz (a
// SQLite file) and NAME.sql.gz (a database's dump), and NAME.txt with the head it
// had and what a replay of it says.
const releases = "../../store/testdata"

var release = flag.String("release", "", "keep a journal that this build makes under this name, beside those of earlier ones")

// TestReport_temporal2537 replays the journals that earlier builds left, with the
// interpreter of this one: temporalio/sdk-go#2537 saw an upgrade that could not
// replay what was recorded before it. Each is migrated, found clean, has the head
// that it had, and replays byte for byte.
// Report 24 of reference/reports.md: an upgrade makes old histories unreplayable.
func TestReport_temporal2537(t *testing.T) {
	if *release != "" {
		keepRelease(t, *release)
	}
	known, err := filepath.Glob(filepath.Join(releases, "*.txt"))
	if err != nil || len(known) == 0 {
		t.Fatalf("no journals in %s: %v", releases, err)
	}
	cluster, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	for _, path := range known {
		base := strings.TrimSuffix(path, ".txt")
		told, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(base)+"/sqlite", func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "world.db")
			if err := os.WriteFile(db, unpack(t, base+".db.gz"), 0o600); err != nil {
				t.Fatal(err)
			}
			replays(t, db, string(told))
		})
		t.Run(filepath.Base(base)+"/postgres", func(t *testing.T) {
			url := cluster.Fresh(t)
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(t.Context()))
			if _, err := conn.PgConn().Exec(t.Context(), string(unpack(t, base+".sql.gz"))).ReadAll(); err != nil {
				t.Fatal(err)
			}
			replays(t, url, string(told))
		})
	}
}

// replays holds a journal to what was told of it when it was made.
func replays(t *testing.T, db, told string) {
	t.Helper()
	if got := tell(t, db); got != told {
		t.Errorf("it says\n%s\nand when it was made\n%s", got, told)
	}
	// Its interpreters are no programs any more: the replay above was this build's
	// doing. What clients committed needs none.
	w := &rig.World{Bin: bin}
	if r, err := w.Worldd(t.Context(), "replay", "--all", "--db", db); err != nil || !strings.Contains(r.Stdout, "replayed: 3 same, 0 diverged") ||
		!strings.Contains(r.Stdout, "(interpreter absent)") {
		t.Errorf("by its own interpreters: %+v, %v", r, err)
	}
}

// tell says what this build makes of a journal that is clean: its head once it is
// migrated, and what a replay of all of it with today's interpreter says.
func tell(t *testing.T, db string) string {
	t.Helper()
	place, err := engine.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	s, err := place.Open(t.Context(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w := &rig.World{Bin: bin}
	checked, err := w.Worldd(t.Context(), "fsck", "--db", db)
	if err != nil || checked.Code != 0 {
		t.Errorf("fsck: %+v, %v", checked, err)
	}
	replayed, err := w.Worldd(t.Context(), "replay", "--all", "--current", "--db", db)
	if err != nil || replayed.Code != 0 {
		t.Errorf("replay: %+v, %v", replayed, err)
	}
	last := regexp.MustCompile(`(?m)^replayed: .*$`).FindString(replayed.Stdout)
	return fmt.Sprintf("head %d %s %s\n%s\n", head.Index, head.Entry, head.World, last)
}

// keepRelease makes a journal and keeps it for every later build.
func keepRelease(t *testing.T, name string) {
	t.Helper()
	path := everything(t)
	base := filepath.Join(releases, name)
	if _, err := os.Stat(base + ".txt"); err == nil {
		t.Fatalf("there is a journal %s: a release's is never made again", name)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	told := tell(t, path)

	cluster, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	url := cluster.Fresh(t)
	var ends [2]engine.Store
	for i, db := range []string{path, url} {
		place, err := engine.Parse(db)
		if err != nil {
			t.Fatal(err)
		}
		if ends[i], err = place.Open(t.Context(), engine.Options{Create: true}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := transfer.Run(t.Context(), ends[0], ends[1], nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range ends {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dump, err := exec.Command("pg_dump", "--dbname", url, "--inserts", "--no-owner").Output()
	if err != nil {
		t.Fatal(err)
	}
	// What psql alone understands is not needed to restore it.
	dump = regexp.MustCompile(`(?m)^\\.*\n`).ReplaceAll(dump, nil)
	pack(t, base+".db.gz", file)
	pack(t, base+".sql.gz", dump)
	if err := os.WriteFile(base+".txt", []byte(told), 0o644); err != nil {
		t.Fatal(err)
	}
}

func pack(t *testing.T, path string, b []byte) {
	t.Helper()
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
