package fsck

import (
	"world/fault"
	"world/store"
	"world/store/record"
)

// objects re-hashes every object and decodes those that are records.
func (c *checker) objects() error {
	return c.audit.Objects(c.ctx, func(r store.Row[store.StoredObject]) error {
		o := r.Value
		whole := c.row("objects", r.Where, &c.report.Objects, r.Fault)
		if _, err := store.ParseRef(string(o.Ref)); err != nil {
			c.find(r.Where, "its key is not a ref")
			return nil
		}
		if _, twice := c.known[o.Ref.Sum()]; twice {
			c.find(r.Where, "it is stored twice")
		}
		c.known[o.Ref.Sum()] = struct{}{}
		if got := store.RefOf(o.Bytes); got != o.Ref {
			c.find(r.Where, "its bytes hash to %s", got)
			return nil
		}
		if !whole {
			return nil
		}
		for _, l := range o.Labels {
			if err := decodes(l.SemanticID, o.Bytes); err != nil {
				c.find(r.Where, "it is labelled %s and does not decode: %s", l.SemanticID, why(err))
			}
		}
		return nil
	})
}

// decodes holds the bytes of an object to the form that its label promises.
// Labels of free bytes, such as inputs and results, promise nothing here.
func decodes(semanticID string, b []byte) (err error) {
	switch semanticID {
	case record.Invocation:
		_, err = record.DecodeInvocation(b)
	case record.Effect:
		_, err = record.DecodeEffect(b)
	case record.Request:
		_, err = record.DecodeRequest(b)
	case record.Session:
		_, err = record.DecodeSession(b)
	case record.Revocation:
		_, err = record.DecodeRevocation(b)
	case record.Reconciliation:
		_, err = record.DecodeReconciliation(b)
	case record.Registry:
		_, err = record.DecodeRegistry(b)
	case record.Commit:
		_, err = record.DecodeCommit(b)
	case record.Notice:
		_, err = record.DecodeNotice(b)
	case record.Genesis:
		_, err = record.DecodeGenesis(b)
	case record.Ending:
		_, err = record.DecodeEnding(b)
	}
	return err
}

// records fetches decoded records of objects that the log names.
type records struct {
	sessions map[store.Ref]sessionOrFault
}

type sessionOrFault struct {
	record record.SessionRecord
	err    error
}

// bytes returns an object's bytes as they are stored; the objects pass has
// judged them already.
func (c *checker) bytes(r store.Ref) (store.StoredObject, error) {
	if _, err := store.ParseRef(string(r)); err != nil {
		return store.StoredObject{}, err
	}
	row, err := c.audit.Object(c.ctx, r)
	if err == nil && store.RefOf(row.Value.Bytes) != r {
		err = fault.New("fsck: object", fault.Corrupt, "object %s has other bytes", r)
	}
	return row.Value, err
}

// decoded fetches and decodes one record.
func decoded[T any](c *checker, r store.Ref, decode func([]byte) (T, error)) (T, error) {
	o, err := c.bytes(r)
	if err != nil {
		var zero T
		return zero, err
	}
	return decode(o.Bytes)
}

// session fetches a session record; a store has few of them and asks often.
func (c *checker) session(r store.Ref) (record.SessionRecord, error) {
	s, ok := c.records.sessions[r]
	if !ok {
		s.record, s.err = decoded(c, r, record.DecodeSession)
		c.records.sessions[r] = s
	}
	return s.record, s.err
}
