package admin

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"world/canon"
	"world/fault"
	"world/session"
	"world/session/attended"
	"world/session/worktree"
	"world/store"
)

// act is the client process: it asks the daemon in one way and prints what came
// of it. Exit code 0 means that the daemon did it.
func act(how string) int {
	out, err := attempt(how)
	if err != nil {
		fmt.Println(fault.Public(err))
		return 1
	}
	fmt.Println(out)
	return 0
}

func terms() session.Terms {
	grants, err := session.ParseGrants([]string{"Workspace.Read=worktree:2"})
	if err != nil {
		panic(err)
	}
	return session.Terms{Episode: "ep", Grants: grants, TTL: 60}
}

func attempt(how string) (string, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c, err := Dial(os.Getenv("STATE"), store.Ref(os.Getenv("WORLD")))
	if err != nil {
		return "", err
	}
	defer c.Close()
	switch how {
	case "mint", "new":
		t, err := attended.Open()
		if err != nil {
			return "", err
		}
		defer t.Close()
		var m Minted
		if how == "mint" {
			m, err = c.Mint(ctx, t, terms())
		} else {
			m, err = c.New(ctx, t, terms(), worktree.Root(os.Getenv("ROOT")),
				worktree.Request{Repository: os.Getenv("REPO"), Episode: "ep"})
		}
		return m.Token + " " + m.Worktree, err
	case "reconcile":
		t, err := attended.OpenFor("reconciling")
		if err != nil {
			return "", err
		}
		defer t.Close()
		r, err := c.Reconcile(ctx, t, attended.Word{ID: os.Getenv("ID"), Verdict: os.Getenv("VERDICT"), Note: "looked <at> it"})
		return fmt.Sprint(r), err
	case "reconcile without a terminal":
		r, err := c.ask(ctx, request{Reconcile: &word{ID: os.Getenv("ID"), Verdict: os.Getenv("VERDICT"), Note: "n"}}, nil)
		return fmt.Sprint(r), err
	case "end":
		t, err := attended.OpenFor("ending an episode")
		if err != nil {
			return "", err
		}
		defer t.Close()
		ended, err := c.End(ctx, t, store.EpisodeID(os.Getenv("EPISODE")), worktree.Root(os.Getenv("ROOT")), false)
		return fmt.Sprint(ended), err
	case "end without a terminal":
		r, err := c.ask(ctx, request{End: &ending{Episode: "ep"}}, nil)
		return fmt.Sprint(r), err
	case "revoke":
		ids, err := c.Revoke(ctx, store.CredentialID(os.Getenv("ID")), store.EpisodeID(os.Getenv("EPISODE")))
		return fmt.Sprint(ids), err
	}
	m := mintTerms(terms())
	if how == "two files" {
		return "", sendTwo(c, canon.Encode(request{World: c.world, Mint: &m}))
	}
	file, err := fraud(how)
	if err != nil {
		return "", err
	}
	r, err := c.ask(ctx, request{Mint: &m}, file)
	return fmt.Sprint(r), err
}

// fraud opens what a client might hand over in place of its controlling terminal.
func fraud(how string) (*os.File, error) {
	switch how {
	case "no file":
		return nil, nil
	case "null":
		return os.OpenFile("/dev/null", os.O_RDWR, 0)
	case "regular file":
		return os.CreateTemp("", "not-a-terminal")
	case "the other end": // of its own controlling terminal: it could answer itself
		return os.NewFile(3, "master"), nil
	case "the terminal by name":
		return os.OpenFile("/proc/self/fd/0", os.O_RDWR|unix.O_NOCTTY, 0)
	case "read only":
		return os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	case "background":
		file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		// A session leader cannot leave its group, but another can take the foreground.
		signal.Ignore(syscall.SIGTTOU)
		return file, foreground(file)
	case "another's terminal":
		return os.NewFile(4, "another's"), nil
	case "let go":
		file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		signal.Ignore(syscall.SIGHUP)
		go func() {
			var line [1]byte
			os.NewFile(4, "told to").Read(line[:])
			unix.IoctlSetInt(int(file.Fd()), unix.TIOCNOTTY, 0)
			os.NewFile(5, "done").Close()
		}()
		return file, nil
	}
	return nil, fmt.Errorf("no such way: %s", how)
}

// foreground gives the terminal to a child in a group of its own.
func foreground(tty *os.File) error {
	child, err := os.StartProcess("/bin/sleep", []string{"sleep", "30"}, &os.ProcAttr{
		Files: []*os.File{nil, nil, nil}, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, child.Pid)
}

// sendTwo sends a request with two descriptors.
func sendTwo(c *Client, body []byte) error {
	a, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	frame := append([]byte{0, 0, byte(len(body) >> 8), byte(len(body))}, body...)
	if _, _, err := c.conn.WriteMsgUnix(frame, unix.UnixRights(int(a.Fd()), 1), nil); err != nil {
		return err
	}
	raw, _, err := receive(c.conn)
	if err != nil {
		return err
	}
	r, err := canon.DecodeExact[reply](raw, canon.Limits{Bytes: maxFrame})
	if err != nil {
		return err
	}
	return r.err()
}
