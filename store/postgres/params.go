package postgres

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"
)

// params are the values of a statement as they go over the wire. They are of few
// types, so that writing them down here costs a fraction of asking the driver how
// each is written, and their room is used again.
type params struct {
	room   []byte
	values [][]byte
}

// roomKept is how much room is used again at most, in bytes.
const roomKept = 1 << 20

// inBinary says that all values of a statement are in binary.
var inBinary = []int16{pgtype.BinaryFormatCode}

// of writes values down, in their order, none as NULL. They are good until the next call.
func (p *params) of(args []any) [][]byte {
	size := 0
	for _, a := range args {
		size += sizeOf(a)
	}
	if p.room == nil || cap(p.room) < size || cap(p.room) > roomKept {
		p.room = make([]byte, 0, size)
	}
	b := p.room[:0]
	p.values = p.values[:0]
	for _, a := range args {
		from := len(b)
		b = appendValue(b, a)
		p.values = append(p.values, b[from:len(b):len(b)])
	}
	p.room = b
	return p.values
}

// An array begins with the number of its dimensions, whether it has NULLs, the
// type of its elements, and their number and the index of the first.
const arrayHead = 5 * 4

func sizeOf(a any) int {
	switch a := a.(type) {
	case string:
		return len(a)
	case []byte:
		return len(a)
	case int64:
		return 8
	case []string:
		return sizeOfTexts(a)
	case [][]byte:
		return sizeOfTexts(a)
	case []int64:
		return arrayHead + len(a)*(4+8)
	}
	panic(fmt.Sprintf("postgres: a value of %T", a))
}

func sizeOfTexts[T ~string | ~[]byte](list []T) int {
	size := arrayHead
	for _, v := range list {
		size += 4 + len(v)
	}
	return size
}

func appendValue(b []byte, a any) []byte {
	switch a := a.(type) {
	case string:
		return append(b, a...)
	case []byte:
		return append(b, a...)
	case int64:
		return binary.BigEndian.AppendUint64(b, uint64(a))
	case []string:
		return appendTexts(b, pgtype.TextOID, a)
	case [][]byte:
		return appendTexts(b, pgtype.ByteaOID, a)
	case []int64:
		b = appendArray(b, pgtype.Int8OID, len(a))
		for _, v := range a {
			b = binary.BigEndian.AppendUint64(appendLength(b, 8), uint64(v))
		}
		return b
	}
	panic(fmt.Sprintf("postgres: a value of %T", a))
}

func appendTexts[T ~string | ~[]byte](b []byte, oid uint32, list []T) []byte {
	b = appendArray(b, oid, len(list))
	for _, v := range list {
		b = append(appendLength(b, len(v)), v...)
	}
	return b
}

func appendArray(b []byte, oid uint32, n int) []byte {
	const dimensions, nulls, first = 1, 0, 1
	b = appendLength(appendLength(b, dimensions), nulls)
	b = binary.BigEndian.AppendUint32(b, oid)
	return appendLength(appendLength(b, n), first)
}

func appendLength(b []byte, n int) []byte { return binary.BigEndian.AppendUint32(b, uint32(n)) }
