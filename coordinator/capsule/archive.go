package capsule

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"world/confine"
	"world/fault"
	"world/store"
)

// Archive holds interpreters as files named by their hash, filled from the store's
// objects, and the sealed images made from them. It never trusts a file: an image
// is hashed as it is sealed, and the image is what runs. A file that holds
// something else, or cannot be read, is written anew from the store.
type Archive struct {
	dir     string
	objects store.Reader
	healed  func(ref store.Ref, was error)

	mu     sync.Mutex
	images map[store.Ref]*confine.Image
}

// OpenArchive opens the archive in a directory, which is made when it is absent.
// healed is told of each file that was written anew, and what it was before.
func OpenArchive(dir string, objects store.Reader, healed func(ref store.Ref, was error)) (*Archive, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap("capsule: open archive", fault.Unavailable, err, "the archive cannot be made")
	}
	return &Archive{dir: dir, objects: objects, healed: healed, images: map[store.Ref]*confine.Image{}}, nil
}

// Image returns the interpreter of this ref. Unavailable when neither the archive
// nor the store has it, Corrupt when what the archive has is something else and
// the store cannot mend it.
func (a *Archive) Image(ctx context.Context, ref store.Ref) (*confine.Image, error) {
	if _, err := store.ParseRef(string(ref)); err != nil {
		return nil, fault.New("capsule: archive", fault.Corrupt, "the interpreter is not named by a ref")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if image, ok := a.images[ref]; ok {
		return image, nil
	}
	path := filepath.Join(a.dir, strings.TrimPrefix(string(ref), "sha256:"))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := a.fill(ctx, path, ref); err != nil {
			return nil, err
		}
	}
	image, was := seal(path, ref)
	if was != nil {
		if err := a.fill(ctx, path, ref); err != nil {
			return nil, errors.Join(was, err)
		}
		var err error
		if image, err = seal(path, ref); err != nil {
			return nil, err
		}
		a.healed(ref, was)
	}
	a.images[ref] = image
	return image, nil
}

// Add archives an interpreter from a file, and returns its ref.
func (a *Archive) Add(file string) (store.Ref, error) {
	image, err := confine.SealFile(file)
	if err != nil {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.images[image.Ref]; ok {
		return image.Ref, image.Close()
	}
	program, err := io.ReadAll(image.Reader())
	if err == nil {
		err = a.keep(filepath.Join(a.dir, strings.TrimPrefix(string(image.Ref), "sha256:")), image.Ref, program)
	}
	if err != nil {
		image.Close()
		return "", err
	}
	a.images[image.Ref] = image
	return image.Ref, nil
}

// seal makes an image of an archived file.
func seal(path string, ref store.Ref) (*confine.Image, error) {
	image, err := confine.SealFile(path)
	if err != nil {
		return nil, err
	}
	if image.Ref != ref {
		image.Close()
		return nil, fault.New("capsule: archive", fault.Corrupt, "the archived interpreter does not hash to %s", ref)
	}
	return image, nil
}

// fill copies an interpreter from the store into the archive.
func (a *Archive) fill(ctx context.Context, path string, ref store.Ref) error {
	object, err := a.objects.Object(ctx, ref)
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap("capsule: archive", fault.Unavailable, err, "interpreter %s is not here", ref)
	}
	if err != nil {
		return err
	}
	return a.keep(path, ref, object.Bytes())
}

// keep writes an interpreter's file, so that it appears whole or not at all.
func (a *Archive) keep(path string, ref store.Ref, program []byte) error {
	failed := func(err error) error {
		return fault.Wrap("capsule: archive", fault.Unavailable, err, "interpreter %s cannot be archived", ref)
	}
	f, err := os.CreateTemp(a.dir, "new-")
	if err != nil {
		return failed(err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(program)
	if err = errors.Join(err, f.Chmod(0o444), f.Sync(), f.Close()); err != nil {
		return failed(err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return failed(err)
	}
	return nil
}

// Close gives the sealed images back. No run may start afterwards.
func (a *Archive) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, image := range a.images {
		errs = append(errs, image.Close())
	}
	clear(a.images)
	return errors.Join(errs...)
}
