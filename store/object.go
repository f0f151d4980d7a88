package store

// MaxObject is the largest object a store accepts, in bytes. Interpreters are
// kept as objects and are the largest there are.
const MaxObject = 64 << 20

// Label says what an object is and who put it there. One object may carry
// several labels, because equal bytes may play several parts (D7).
type Label struct {
	SemanticID string // such as "world/effect-record/v1"
	Provenance string // such as "coordinator:mcp"
}

// Object is immutable bytes under their content address. Only NewObject makes
// one, so the address always fits and bytes are hashed once.
type Object struct {
	ref   Ref
	bytes []byte
	label Label
}

// NewObject hashes bytes, which the caller must not change afterwards.
func NewObject(semanticID, provenance string, bytes []byte) Object {
	if bytes == nil {
		bytes = []byte{} // an engine may tell no bytes from none at all
	}
	return Object{ref: RefOf(bytes), bytes: bytes, label: Label{semanticID, provenance}}
}

// Ref returns the content address.
func (o Object) Ref() Ref { return o.ref }

// Bytes returns the exact bytes stored. The caller must not change them.
func (o Object) Bytes() []byte { return o.bytes }

// Label returns the label this value was made or first stored with.
func (o Object) Label() Label { return o.label }
