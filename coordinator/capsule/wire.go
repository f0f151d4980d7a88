package capsule

import (
	"encoding/binary"
	"io"

	"world/fault"
)

// Bounds of one run, in bytes.
const (
	MaxSource = 1 << 20 // program text
	MaxInput  = 4 << 20
	MaxOutput = 4 << 20
)

// Verb is the interpreter's command that runs one pure function: a request on
// stdin, the output on stdout, how it went in the exit code.
const Verb = "capsule"

// Exit codes of the verb. Append only: archived interpreters speak them.
const (
	ExitDone    = 0
	ExitRequest = 64 // the request is unreadable
	ExitInvalid = 65 // no main of one string to one string
	ExitFailed  = 66 // the program failed
	ExitLimit   = 67 // steps or output size
)

// EncodeRequest frames a program and its input: each as 8 bytes of length, most
// significant first, and the bytes.
func EncodeRequest(source, input []byte) []byte {
	frame := make([]byte, 0, len(source)+len(input)+16)
	for _, part := range [][]byte{source, input} {
		frame = binary.BigEndian.AppendUint64(frame, uint64(len(part)))
		frame = append(frame, part...)
	}
	return frame
}

// DecodeRequest reads a frame to the end of r and refuses one that is cut short,
// too large, or followed by more.
func DecodeRequest(r io.Reader) (source, input []byte, err error) {
	bad := func(what string) ([]byte, []byte, error) {
		return nil, nil, fault.New("capsule: decode request", fault.Invalid, "%s", what)
	}
	parts := make([][]byte, 2)
	for i, limit := range []uint64{MaxSource, MaxInput} {
		var size [8]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return bad("the request is cut short")
		}
		n := binary.BigEndian.Uint64(size[:])
		if n > limit {
			return bad("the request is too large")
		}
		parts[i] = make([]byte, n)
		if _, err := io.ReadFull(r, parts[i]); err != nil {
			return bad("the request is cut short")
		}
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); err != io.EOF {
		return bad("the request goes on after its end")
	}
	return parts[0], parts[1], nil
}
