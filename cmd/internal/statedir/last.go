package statedir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"world/canon"
	"world/fault"
	"world/store"
)

const lastFile = "last-entry"

// Last is the last log entry that a daemon saw in its store.
type Last struct {
	World store.Ref `json:"world"` // hash of the genesis entry
	Index int64     `json:"index"`
	Entry store.Ref `json:"entry"` // hash
}

// Remember writes down how far a store is. A store without genesis has nothing
// to remember.
func Remember(ctx context.Context, dir string, s store.Reader) error {
	head, err := s.Head(ctx)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	genesis, err := s.Entry(ctx, 0)
	if err != nil {
		return err
	}
	last := Last{World: genesis.Hash, Index: head.Index, Entry: head.Entry}
	if err := replace(filepath.Join(dir, lastFile), string(canon.Encode(last))); err != nil {
		return fault.Wrap("state: remember", fault.Unavailable, err, "the last entry cannot be written to the state directory")
	}
	return nil
}

// Rollback compares a store with what the directory remembers: "" when the store
// has the remembered entry, and otherwise in words what it has instead. A store
// restored from a backup has forgotten what was spent since (D10). Where there is
// no store, s is nil.
func Rollback(ctx context.Context, dir string, s store.Reader) (string, error) {
	text, err := readSmall(filepath.Join(dir, lastFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	const op = "state: last entry"
	if err != nil {
		return "", fault.Wrap(op, fault.Unavailable, err, "%s cannot be read from the state directory", lastFile)
	}
	last, err := canon.DecodeExact[Last]([]byte(text), canon.Limits{Bytes: maxFile})
	if err != nil {
		return "", fault.Wrap(op, fault.Corrupt, err, "%s in the state directory holds no entry", lastFile)
	}
	var head store.Head
	if s != nil {
		head, err = s.Head(ctx)
	}
	if s == nil || fault.Is(err, fault.NotFound) {
		return fmt.Sprintf("the store is empty, and entry %d was seen in it", last.Index), nil
	}
	if err != nil {
		return "", err
	}
	genesis, err := s.Entry(ctx, 0)
	switch {
	case err != nil:
		return "", err
	case genesis.Hash != last.World:
		return "the store holds another world than the one seen here", nil
	case head.Index < last.Index:
		return fmt.Sprintf("the store ends with entry %d, and entry %d was seen in it", head.Index, last.Index), nil
	}
	entry, err := s.Entry(ctx, last.Index)
	if err == nil && entry.Hash != last.Entry {
		return fmt.Sprintf("entry %d is not the one that was seen here", last.Index), nil
	}
	return "", err
}
