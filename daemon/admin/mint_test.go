package admin

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"world/session"
	"world/store/sqlite"
)

func TestMintAtTheClientsTerminal(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	if saw := c.saw(); !strings.Contains(saw, "  Workspace.Read=worktree:2") ||
		!strings.Contains(saw, "Confirm mint for episode ep (1 grant(s), expiry +60s)") {
		t.Errorf("the terminal shows %q", saw)
	}
	c.types(t, "y\n")
	code, out := c.answer(t)
	token, err := session.ParseToken(strings.TrimSpace(out))
	if code != 0 || err != nil {
		t.Fatalf("exit %d: %s", code, out)
	}
	live, err := session.Resolve(t.Context(), d.desk.Office.Store, token, born+5)
	if err != nil || live.Record.Episode != "ep" || live.Record.ExpiresAt != born+65 {
		t.Errorf("got %+v, %v", live, err)
	}
	if strings.Contains(c.saw(), token.Reveal()) {
		t.Error("the daemon wrote the credential to the terminal")
	}
}

func TestANoIsANo(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	c.types(t, "n\n")
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "denied: aborted") {
		t.Errorf("exit %d: %s", code, out)
	}
	if d.head(t) != 0 {
		t.Error("something was minted")
	}
}

func TestAnInterruptBreaksTheQuestionOffForCertain(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	c.types(t, "\x03")
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "denied: aborted: broken off") {
		t.Errorf("exit %d: %s", code, out)
	}
	if d.head(t) != 0 {
		t.Error("something was minted")
	}
}

func TestAClientThatDiesBreaksTheQuestionOff(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	if err := c.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.answer(t)
	c.keyboard.WriteString("y\n") // fails when the terminal is hung up already
	d.stop()                      // returns when every conversation is over
	s, err := sqlite.Open(t.Context(), filepath.Join(d.dir, "world.db"), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if head, err := s.Head(t.Context()); err != nil || head.Index != 0 {
		t.Errorf("the log is at %d, %v", head.Index, err)
	}
}

func TestStoppingTheDaemonBreaksTheQuestionOff(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint")
	c.asked(t)
	d.stop()
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "denied: aborted: broken off") {
		t.Errorf("exit %d: %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(d.dir, "admin", "admin.sock")); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

func TestAnotherStoreIsNotMeant(t *testing.T) {
	d := startDaemon(t)
	c := d.startClient(t, "mint", "WORLD=sha256:"+strings.Repeat("0", 64))
	if code, out := c.answer(t); code != 1 || !strings.Contains(out, "serves another store") {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestRevokeNeedsNoTerminal(t *testing.T) {
	d := startDaemon(t)
	minted, err := d.desk.Office.Mint(t.Context(), terms(), born)
	if err != nil {
		t.Fatal(err)
	}
	id := string(minted.Record.Credential)
	if code, out := d.startClient(t, "revoke", "ID="+id).answer(t); code != 0 || out != "["+id+"]" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := d.startClient(t, "revoke", "ID="+id).answer(t); code != 1 || !strings.Contains(out, "revoked already") {
		t.Errorf("again: exit %d: %s", code, out)
	}
	if code, out := d.startClient(t, "revoke", "EPISODE=ep").answer(t); code != 1 || !strings.Contains(out, "no unrevoked session") {
		t.Errorf("by episode: exit %d: %s", code, out)
	}
}
