package secret

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestMain is also the program whose command line is read.
func TestMain(m *testing.M) {
	if os.Getenv("WORLD_SECRET_TEST") == "" {
		os.Exit(m.Run())
	}
	args := Args()
	shown, err := os.ReadFile("/proc/self/cmdline")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Stdout.Write(shown)
	fmt.Printf("\n%s", strings.Join(args, " "))
}

func TestTheCommandLineShowsNoPassword(t *testing.T) {
	given := []string{"serve", "--db", "postgres://world:hunter2@db/w?password=hunter2", "--db=postgresql://world:hunter2@db/w",
		"--note=a=b", "postgres://world@db/hunter3", "postgres://db/w?sslpassword=hunter2&sslmode=off"}
	cmd := exec.Command(os.Args[0], given...)
	cmd.Env = append(os.Environ(), "WORLD_SECRET_TEST=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	shown, args, _ := bytes.Cut(out, []byte("\n"))
	if bytes.Contains(shown, []byte("hunter2")) {
		t.Errorf("shown: %q", shown)
	}
	for _, kept := range []string{"serve", "world:xxxxxxx@db/w", "hunter3", "--note=a=b", "sslmode=off"} {
		if !bytes.Contains(shown, []byte(kept)) {
			t.Errorf("%s is not shown any more: %q", kept, shown)
		}
	}
	if got := strings.Fields(string(args)); !slices.Equal(got, given) {
		t.Errorf("the program got %q", got)
	}
}
