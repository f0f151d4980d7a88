package confine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"world/fault"
	"world/infile"
	"world/store"
)

// MaxImage is the largest program that Seal accepts, in bytes.
const MaxImage = store.MaxObject

// Image is a program in memory whose bytes can never change: it was copied once,
// sealed, and hashed after sealing, so the bytes that were hashed are the bytes
// that run, whatever happens to the file they came from (D24).
type Image struct {
	Ref    store.Ref
	file   *os.File // read only: a writable descriptor would make execution fail with ETXTBSY
	script bool     // begins with #!, so that its interpreter must be able to open it
}

// Seal copies a program from r. Limit when it is longer than MaxImage bytes.
func Seal(r io.Reader) (*Image, error) {
	writable, err := newMemfd("program", unix.MFD_EXEC)
	if err != nil {
		return nil, fault.Wrap("confine: seal", fault.Unavailable, err, "no memory file for a program")
	}
	defer writable.Close()
	n, err := io.Copy(writable, io.LimitReader(r, MaxImage+1))
	if err != nil {
		return nil, fault.Wrap("confine: seal", fault.Internal, err, "")
	}
	if n > MaxImage {
		return nil, fault.New("confine: seal", fault.Limit, "a program is at most %d bytes", MaxImage)
	}
	file, err := freeze(writable, 0o555)
	if err != nil {
		return nil, fault.Wrap("confine: seal", fault.Internal, err, "")
	}
	image := &Image{file: file}
	if err := image.digest(); err != nil {
		file.Close()
		return nil, fault.Wrap("confine: seal", fault.Internal, err, "")
	}
	return image, nil
}

// SealFile copies a program from a regular file.
func SealFile(path string) (*Image, error) {
	f, err := infile.Open(path)
	if fault.Is(err, fault.Invalid) {
		return nil, fault.Wrap("confine: seal", fault.Invalid, err, "the program is not a regular file")
	}
	if err != nil {
		return nil, fault.Wrap("confine: seal", fault.Unavailable, err, "the program cannot be read")
	}
	defer f.Close()
	return Seal(f)
}

// Reader reads the sealed bytes from their beginning.
func (i *Image) Reader() io.Reader { return io.NewSectionReader(i.file, 0, MaxImage) }

// Close gives the memory back. Runs that have started keep their own copy.
func (i *Image) Close() error { return i.file.Close() }

func (i *Image) digest() error {
	head := make([]byte, 2)
	if _, err := i.file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	i.script = bytes.Equal(head, []byte("#!"))
	h := sha256.New()
	if _, err := io.Copy(h, i.Reader()); err != nil {
		return err
	}
	i.Ref = store.RefFromSum([sha256.Size]byte(h.Sum(nil)))
	return nil
}

// newMemfd makes an empty memory file. Kernels before 6.3 do not know the
// executable flag and need none.
func newMemfd(name string, flags int) (*os.File, error) {
	base := unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, base|flags)
	if errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, base)
	}
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// freeze seals a memory file for ever and reopens it read only.
func freeze(f *os.File, mode os.FileMode) (*os.File, error) {
	if err := f.Chmod(mode); err != nil {
		return nil, err
	}
	seals := unix.F_SEAL_WRITE | unix.F_SEAL_GROW | unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return nil, err
	}
	return os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
}

// sealBytes puts data that a program only reads into a sealed memory file.
func sealBytes(name string, data []byte) (*os.File, error) {
	f, err := newMemfd(name, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	return freeze(f, 0o444)
}
