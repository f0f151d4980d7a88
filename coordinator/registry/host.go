package registry

import (
	"context"

	"world/store"
	"world/store/record"
)

// HostDraft prepares the log entry of a host act, such as "session-mint", about
// an object: session.Office takes it as its Draft. The text that stands as the
// act's transitionFn is kept first, because an entry names only what exists; the
// interpreter is that of genesis, because none ran. NotFound before genesis.
func HostDraft(ctx context.Context, s store.Store, verb string, about store.Ref) (store.Draft, error) {
	genesis, err := s.Entry(ctx, 0)
	if err != nil {
		return store.Draft{}, err
	}
	text := hostAct(verb)
	if err := s.Keep(ctx, []store.Object{text}); err != nil {
		return store.Draft{}, err
	}
	return hostDraft(text, verb, genesis.Interpreter, about), nil
}

func hostAct(verb string) store.Object {
	return store.NewObject(record.HostAct, provenance, []byte("world/host-act/v1 "+verb+"\n"))
}

// hostDraft names the object of the act as its state too: a host act composes no output.
func hostDraft(text store.Object, verb string, interpreter, about store.Ref) store.Draft {
	return store.Draft{
		TransitionFn: text.Ref(), Interpreter: interpreter, WrittenBy: "host:" + verb,
		Transition: about, StateRoot: about,
	}
}
