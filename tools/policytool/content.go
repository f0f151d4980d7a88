package policytool

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unicode/utf8"

	"world/confine"
	"world/store"
)

var (
	errNotRegular = errors.New("not a regular file")
	errNotText    = errors.New("not UTF-8 text; binary files cannot be read or edited as text")
	errReadOnly   = errors.New("the file is read-only: its mode forbids its owner to write it")
)

// errLarge says that a file is larger than a limit in bytes.
type errLarge int64

func (e errLarge) Error() string {
	return fmt.Sprintf("file exceeds the %d-byte transfer cap", int64(e))
}

// open opens a regular file to read.
func (p place) open() (*os.File, error) {
	if p.info == nil {
		return nil, syscall.ENOENT
	}
	if !p.info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	// Not following and not waiting: by now the name may be a link or a pipe.
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, p.info) {
		f.Close()
		return nil, errors.Join(errNotRegular, err)
	}
	return f, nil
}

// digest is the ref of a file's content, whatever its size, "" of one that is not
// there or that its owner cannot read.
func (p place) digest() (store.Ref, error) {
	f, err := p.open()
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return store.RefFromSum([sha256.Size]byte(h.Sum(nil))), nil
}

// read returns a regular file's text of at most limit bytes.
func (p place) read(limit int64) (string, error) {
	f, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(b)) > limit {
		return "", errLarge(limit)
	}
	if !utf8.Valid(b) {
		return "", errNotText
	}
	return string(b), nil
}

// replace puts new content in the place of a regular file, or of nothing. A file
// that its owner has marked read-only stays as it is.
func (p place) replace(content string, limit int64) error {
	if int64(len(content)) > limit {
		return fmt.Errorf("content exceeds the %d-byte transfer cap", limit)
	}
	mode := fs.FileMode(0o644)
	if p.info != nil {
		if !p.info.Mode().IsRegular() {
			return errNotRegular
		}
		if mode = p.info.Mode().Perm(); mode&0o200 == 0 {
			return errReadOnly
		}
	}
	// Nobody else has that name: so no file of a user is in the way or lost, and what a
	// killed write leaves never blocks another.
	name := confine.Aside()
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = p.dir.Rename(name, p.name)
	}
	if err != nil {
		p.dir.Remove(name)
	}
	return err
}

// reason is an error's text without any path.
func reason(err error) string {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return err.Error()
}
