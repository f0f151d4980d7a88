package statedir

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"world/fault"
	"world/store"
)

const (
	nameFile = "daemon-name"
	lockFile = "daemon.lock"
	maxHost  = 32 // bytes of the machine's name in a daemon's
)

// Name returns the name of the daemon of a state directory, and draws one the
// first time: the machine's name for people, and letters that no other draws. It
// is how the store knows the owner of a lease and an episode's home.
func Name(dir string) (store.HomeID, error) {
	const op = "state: name"
	path := filepath.Join(dir, nameFile)
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := writeOnce(path, drawn()+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fault.Wrap(op, fault.Unavailable, err, "the state directory cannot be written")
		}
		text, err = readSmall(path)
	}
	if err != nil {
		return "", fault.Wrap(op, fault.Unavailable, err, "the daemon's name cannot be read from the state directory")
	}
	name, err := store.ParseHomeID(strings.TrimSuffix(text, "\n"))
	if err != nil {
		return "", fault.Wrap(op, fault.Corrupt, err, "%s in the state directory holds no daemon's name", nameFile)
	}
	return name, nil
}

// drawn is a new name.
func drawn() string {
	host, err := os.Hostname()
	if err != nil {
		host = "daemon"
	}
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, host)
	return plain[:min(len(plain), maxHost)] + "-" + strings.ToLower(rand.Text()[:12])
}

// Lock makes this process the directory's only daemon, until the file is closed.
// Locked when another is, at once.
func Lock(dir string) (*os.File, error) {
	const op = "state: lock"
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(op, fault.Unavailable, err, "the state directory cannot be locked")
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole); err != nil {
		f.Close()
		return nil, fault.Wrap(op, fault.Locked, err, "another daemon holds the state directory")
	}
	return f, nil
}
