package statedir

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"world/infile"
)

// maxFile bounds what is read of a file here, in bytes.
const maxFile = 4 << 10

func readSmall(path string) (string, error) {
	f, err := infile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	return string(b), err
}

// fresh writes a file beside a path, durable and for this user alone.
func fresh(path, text string) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	return f.Name(), err
}

// writeOnce makes a file that must not be there yet, whole or not at all.
func writeOnce(path, text string) error {
	name, err := fresh(path, text)
	if name != "" {
		defer os.Remove(name)
	}
	if err != nil {
		return err
	}
	return errors.Join(os.Link(name, path), syncFolder(path))
}

// replace writes a file anew, whole or not at all.
func replace(path, text string) error {
	name, err := fresh(path, text)
	if err == nil {
		err = os.Rename(name, path)
	}
	if err != nil {
		os.Remove(name)
		return err
	}
	return syncFolder(path)
}

func syncFolder(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
