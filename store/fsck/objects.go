package fsck

import (
	"crypto/sha256"
	"fmt"

	"world/fault"
	"world/store"
	"world/store/record"
)

// judged is an object with what its bytes say.
type judged struct {
	row    store.Row[store.StoredObject]
	sum    [32]byte // what its key says
	keyed  bool     // its key is a ref
	same   bool     // as its bytes hash to
	wrong  []string // what its labels promise and its bytes do not hold
	record any      // decoded, when the log may lead to it
}

func (o *judged) judge() {
	v := o.row.Value
	o.sum, o.keyed = v.Ref.Parsed()
	o.same = o.keyed && sha256.Sum256(v.Bytes) == o.sum
	if o.row.Fault != nil || !o.same {
		return
	}
	for _, l := range v.Labels {
		got, err := decodes(l.SemanticID, v.Bytes)
		switch {
		case err != nil:
			o.wrong = append(o.wrong, fmt.Sprintf("it is labelled %s and does not decode: %s", l.SemanticID, why(err)))
		default:
			o.record = keepable(got, len(v.Bytes))
		}
	}
}

func (c *checker) object(o *judged) {
	r := o.row
	whole(c, "objects", &c.report.Objects, r)
	if !o.keyed {
		c.find(r.Where(), "its key is not a ref")
		return
	}
	if !c.known.add(&o.sum) {
		c.find(r.Where(), "it is stored twice")
	}
	if !o.same {
		c.find(r.Where(), "its bytes hash to %s", store.RefOf(r.Value.Bytes))
	}
	for _, wrong := range o.wrong {
		c.find(r.Where(), "%s", wrong)
	}
}

// decodes holds the bytes of an object to the form that its label promises, and
// returns records of calls. Labels of free bytes, such as inputs and results,
// promise nothing here.
func decodes(semanticID string, b []byte) (v any, err error) {
	switch semanticID {
	case record.Invocation:
		return record.DecodeInvocation(b)
	case record.Effect:
		return record.DecodeEffect(b)
	case record.Request:
		return record.DecodeRequest(b)
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
	return nil, err
}

// keepable is a record of so many bytes as it is kept, nil for one that is too large.
// The payload of a request decides nothing.
func keepable(v any, size int) any {
	if q, ok := v.(record.EffectRequest); ok {
		q.Payload = nil
		v, size = q, len(q.Effect)+len(q.Scope)
	}
	if size > keptBytes {
		return nil
	}
	return v
}

// bytes returns an object's bytes as they are stored; they are judged where they go
// past.
func (c *checker) bytes(r store.Ref) (store.StoredObject, error) {
	if _, err := store.ParseRef(string(r)); err != nil {
		return store.StoredObject{}, err
	}
	row, err := c.look.Object(c.ctx, r)
	if err == nil && store.RefOf(row.Value.Bytes) != r {
		err = fault.New("fsck: object", fault.Corrupt, "object %s has other bytes", r)
	}
	return row.Value, err
}

// read is a record that was fetched and decoded, or why it could not be.
type read[T any] struct {
	record T
	err    error
}

// decoded fetches and decodes one record.
func decoded[T any](c *checker, r store.Ref, decode func([]byte) (T, error)) (got read[T]) {
	o, err := c.bytes(r)
	if err != nil {
		return read[T]{err: err}
	}
	got.record, got.err = decode(o.Bytes)
	return got
}

// session fetches a session record; a store has few of them and asks often.
func (c *checker) session(r store.Ref) (record.SessionRecord, error) {
	s, ok := c.sessionsRead[r]
	if !ok {
		s = decoded(c, r, record.DecodeSession)
		c.sessionsRead[r] = s
	}
	return s.record, s.err
}
