package main

import (
	"path/filepath"

	"world/broker/law"
	"world/canon"
	"world/coordinator/capsule"
	"world/coordinator/registry"
	"world/fault"
	"world/infile"
	"world/store"
	"world/store/record"
)

const (
	maxManifest = 4 << 20 // bytes
	maxEntries  = 1024
)

// readManifest reads a manifest and the sources it names, relative to its folder.
func readManifest(file string) ([]registry.Builtin, error) {
	raw, err := infile.Read(file, maxManifest)
	if err != nil {
		return nil, bad("the manifest: %s", fault.Detail(err))
	}
	v, err := canon.Parse(raw, canon.Limits{Bytes: maxManifest})
	if err != nil {
		return nil, err
	}
	if v.Kind() != canon.Array || len(v.Items()) == 0 || len(v.Items()) > maxEntries {
		return nil, bad("a manifest is an array of 1 to %d transitions", maxEntries)
	}
	transitions := make([]registry.Builtin, len(v.Items()))
	for i, item := range v.Items() {
		if transitions[i], err = readTransition(item, filepath.Dir(file)); err != nil {
			return nil, bad("transition %d: %s", i, fault.Public(err))
		}
	}
	return transitions, nil
}

func bad(format string, args ...any) error {
	return fault.New("world-publish: manifest", fault.Invalid, format, args...)
}

func readTransition(v canon.Value, dir string) (b registry.Builtin, err error) {
	f, err := fields(v, "id", "title", "description", "transitionFnFile", "inputSchema", "outputSchema", "access", "declaredEffects")
	if err != nil {
		return b, err
	}
	var text [4]string
	for i, name := range []string{"id", "title", "description", "transitionFnFile"} {
		var ok bool
		if text[i], ok = f[name].Text(); !ok {
			return b, bad("%s is %s, not a string", name, f[name].Kind())
		}
	}
	id, err := store.ParseTransitionID(text[0])
	if err != nil {
		return b, err
	}
	b = registry.Builtin{
		ID: id, Title: text[1], Description: text[2],
		InputSchema: f["inputSchema"].Bytes(), OutputSchema: f["outputSchema"].Bytes(), Declared: []record.Triple{},
	}
	if b.Source, err = infile.Read(filepath.Join(dir, text[3]), capsule.MaxSource); err != nil {
		return b, bad("transitionFnFile: %s", fault.Detail(err))
	}
	if b.Access, err = readTriple(f["access"]); err != nil {
		return b, err
	}
	if f["declaredEffects"].Kind() != canon.Array {
		return b, bad("declaredEffects is %s, not an array", f["declaredEffects"].Kind())
	}
	for _, item := range f["declaredEffects"].Items() {
		t, err := readTriple(item)
		if err != nil {
			return b, err
		}
		b.Declared = append(b.Declared, t)
	}
	return b, nil
}

func readTriple(v canon.Value) (record.Triple, error) {
	f, err := fields(v, "effect", "scope", "cost")
	if err != nil {
		return record.Triple{}, err
	}
	effect, ok1 := f["effect"].Text()
	scope, ok2 := f["scope"].Text()
	cost, ok3 := f["cost"].Int64()
	if !ok1 || !ok2 || !ok3 {
		return record.Triple{}, bad("a triple is {effect: string, scope: string, cost: integer}")
	}
	return record.Triple{Effect: law.Effect(effect), Scope: law.Scope(scope), Cost: cost}, nil
}

// fields reads an object that has exactly these members.
func fields(v canon.Value, names ...string) (map[string]canon.Value, error) {
	found := map[string]canon.Value{}
	for _, name := range names {
		member, ok := v.Get(name)
		if !ok {
			return nil, bad("member %q is missing", name)
		}
		found[name] = member
	}
	for _, m := range v.Members() {
		if _, known := found[m.Name]; !known {
			return nil, bad("unknown member %q", m.Name)
		}
	}
	return found, nil
}
