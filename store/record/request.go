package record

import (
	"bytes"
	"strconv"

	"world/broker/law"
	"world/fault"
)

// EffectRequest is what the law is asked, with the payload for the handler.
type EffectRequest struct {
	Effect  law.Effect
	Scope   law.Scope
	Cost    int64 // calls
	Now     int64 // logical unix seconds
	Payload []byte
}

// Law returns the part of the request that the law decides.
func (q EffectRequest) Law() law.Request {
	return law.Request{Effect: q.Effect, Scope: q.Scope, Cost: q.Cost, Now: q.Now}
}

// Bytes is the request's byte form: effect and scope with their lengths in
// bytes, cost, now, then the payload as it is.
func (q EffectRequest) Bytes() []byte {
	b := make([]byte, 0, len(q.Effect)+len(q.Scope)+len(q.Payload)+64)
	b = appendCounted(b, string(q.Effect))
	b = appendCounted(b, string(q.Scope))
	b = append(strconv.AppendInt(b, q.Cost, 10), ':')
	b = append(strconv.AppendInt(b, q.Now, 10), ':')
	return append(b, q.Payload...)
}

func appendCounted(b []byte, s string) []byte {
	b = append(strconv.AppendInt(b, int64(len(s)), 10), ':')
	return append(b, s...)
}

// DecodeRequest is the inverse of Bytes; no other form of a number is accepted.
func DecodeRequest(raw []byte) (EffectRequest, error) {
	var q EffectRequest
	rest := raw
	effect, rest, ok1 := cutCounted(rest)
	scope, rest, ok2 := cutCounted(rest)
	cost, rest, ok3 := cutInt(rest)
	now, rest, ok4 := cutInt(rest)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return q, fault.New("record: request", fault.Invalid, "not an effect request")
	}
	q = EffectRequest{law.Effect(effect), law.Scope(scope), cost, now, rest}
	if !bytes.Equal(q.Bytes(), raw) {
		return q, fault.New("record: request", fault.Invalid, "not in its exact byte form")
	}
	return q, nil
}

func cutInt(b []byte) (int64, []byte, bool) {
	text, rest, ok := bytes.Cut(b, []byte(":"))
	n, err := strconv.ParseInt(string(text), 10, 64)
	return n, rest, ok && err == nil
}

func cutCounted(b []byte) (string, []byte, bool) {
	n, rest, ok := cutInt(b)
	if !ok || n < 0 || n > int64(len(rest)) {
		return "", b, false
	}
	return string(rest[:n]), rest[n:], true
}
