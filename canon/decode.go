package canon

import (
	"bytes"
	"encoding/json"

	"world/fault"
)

// Encode returns the one-line JSON of a struct in its field order, with Go's
// HTML escapes: the byte form of records (not canonical JSON).
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("canon: a record does not marshal: " + err.Error())
	}
	return b
}

// DecodeExact reads bytes that Encode wrote and refuses all others: unknown,
// missing, duplicate or re-cased members, other order, white space, trailing data.
func DecodeExact[T any](raw []byte, limits Limits) (T, error) {
	var v T
	if len(raw) <= limits.bytes() && limits.Depth == 0 && readExact(raw, &v) {
		return v, nil
	}
	return decodeAny[T](raw, limits)
}

// decodeAny is DecodeExact for whatever form bytes have.
func decodeAny[T any](raw []byte, limits Limits) (T, error) {
	var v T
	if _, err := Parse(raw, limits); err != nil {
		return v, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fault.Wrap("canon: decode", fault.Invalid, err, "not the expected shape")
	}
	if !bytes.Equal(Encode(v), raw) {
		return v, fault.New("canon: decode", fault.Invalid, "not in its exact byte form")
	}
	return v, nil
}
