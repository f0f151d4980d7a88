package registry

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"world/fault"
	"world/store"
	"world/store/record"
)

// Report says what Bootstrap found.
type Report struct {
	Began    bool         // it wrote genesis
	Registry store.Ref    // the revision in force
	Differ   []Difference // built-ins of this binary that are not served as they are here
}

// Bootstrap writes the genesis of an empty store: interpreter, sources, revision 1
// of the built-ins, and the registry head, in one act (D30). On a store that has a
// genesis it changes nothing and reports which built-ins the registry serves
// otherwise, or not at all. now is in logical unix seconds.
func Bootstrap(ctx context.Context, s store.Store, builtins []Builtin, interpreter []byte, now int64) (Report, error) {
	_, err := s.Head(ctx)
	if fault.Is(err, fault.NotFound) {
		var report Report
		if report, err = begin(ctx, s, builtins, interpreter, now); err == nil {
			return report, nil
		}
	}
	if err != nil && !fault.Is(err, fault.Conflict) { // another daemon began first
		return Report{}, err
	}
	current, err := Current(ctx, s)
	if err != nil {
		return Report{}, err
	}
	report := Report{Registry: current.Ref}
	report.Differ, err = Differences(ctx, s, builtins, store.RefOf(interpreter))
	return report, err
}

func begin(ctx context.Context, s store.Store, builtins []Builtin, interpreter []byte, now int64) (Report, error) {
	program := store.NewObject(record.Interpreter, provenance, interpreter)
	revision, objects, err := First(builtins, program.Ref())
	if err != nil {
		return Report{}, err
	}
	registry := store.NewObject(record.Registry, provenance, revision.Bytes())
	nonce := make([]byte, 16)
	rand.Read(nonce)
	genesis := store.NewObject(record.Genesis, provenance,
		record.GenesisRecord{Registry: registry.Ref(), At: now, Nonce: hex.EncodeToString(nonce)}.Bytes())
	text := hostAct("genesis")
	_, err = s.Begin(ctx, store.Act{
		Objects: append(objects, program, registry, genesis, text),
		Draft:   hostDraft(text, "genesis", program.Ref(), genesis.Ref()),
		Changes: []store.Change{store.MoveRegistry{Name: record.RegistryName, To: registry.Ref()}},
		At:      now,
	})
	return Report{Began: true, Registry: registry.Ref()}, err
}
