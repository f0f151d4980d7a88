package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"world/daemon/admin"
	"world/fault"
	"world/session"
	"world/session/attended"
)

// mintVerb is what minting verbs share: the terminal, the way to a desk, and
// where the credential goes.
type mintVerb struct {
	terms  session.Terms
	out    string // file for the credential, "" for stdout
	tree   bool   // with a worktree, for the daemon of the state directory
	local  func(context.Context, attended.Desk, *attended.Terminal) (admin.Minted, error)
	daemon func(context.Context, *admin.Client, *attended.Terminal) (admin.Minted, error)
}

func (v mintVerb) run(cmd *cobra.Command, l layout) error {
	if err := v.terms.Check(); err != nil {
		return err
	}
	if err := l.db.Exists(cmd.Context()); err != nil {
		return err
	}
	terminal, err := attended.Open()
	if err != nil {
		return err
	}
	defer terminal.Close()
	// The file comes first: a credential that cannot be written would be lost.
	target, err := v.target(cmd)
	if err != nil {
		return err
	}
	var minted admin.Minted
	err = desks{
		tree: v.tree,
		local: func(d attended.Desk) (err error) {
			minted, err = v.local(cmd.Context(), d, terminal)
			return err
		},
		daemon: func(c *admin.Client) (err error) {
			minted, err = v.daemon(cmd.Context(), c, terminal)
			return err
		},
	}.at(cmd.Context(), l)
	if minted.Token == "" {
		target.discard()
		return err
	}
	if err != nil { // the session stands, closing the store did not go well
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %v\n", cmd.CommandPath(), err)
	}
	if err := target.write(minted.Token); err != nil {
		return fault.Wrap("cli: mint", fault.Failed, err, "the credential of session %s could not be written; revoke it", minted.Credential)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: credential_id=%s (episode %s, %d grant(s), expires %d)\n",
		cmd.CommandPath(), minted.Credential, v.terms.Episode, len(v.terms.Grants), minted.ExpiresAt)
	if minted.Worktree != "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: worktree %s\n", cmd.CommandPath(), minted.Worktree)
	}
	return nil
}

// sink is where a credential goes, once.
type sink struct {
	write   func(token string) error
	discard func()
}

func (v mintVerb) target(cmd *cobra.Command) (sink, error) {
	if v.out == "" {
		return sink{
			write: func(token string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), token)
				return err
			},
			discard: func() {},
		}, nil
	}
	f, publish, err := unnamed(v.out)
	if err != nil {
		return sink{}, fault.Wrap("cli: mint", fault.Conflict, err, "--out must name a new file")
	}
	return sink{
		write: func(token string) error {
			_, err := fmt.Fprintln(f, token)
			return errors.Join(err, publish(), f.Close())
		},
		discard: func() { f.Close() },
	}, nil
}

// unnamed opens a new file, mode 0600, that has its name once it is published: who
// is killed before that leaves nothing behind. Where the file system has no such
// files, it has its name at once.
func unnamed(path string) (f *os.File, publish func() error, err error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, nil, os.ErrExist
	}
	f, err = os.OpenFile(filepath.Dir(path), os.O_WRONLY|unix.O_TMPFILE, 0o600)
	if err != nil {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return f, func() error { return nil }, err
	}
	return f, func() error {
		return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	}, nil
}
