package postgres

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"world/store/postgres/pgtest"
)

// TestParamsAreWhatTheDriverWrites compares every type of value with the driver's
// own writing of it.
func TestParamsAreWhatTheDriverWrites(t *testing.T) {
	types := pgtype.NewMap()
	var p params
	for round := range 2 { // the second in the room of the first
		values := []struct {
			oid uint32
			is  any
		}{
			{pgtype.TextOID, ""}, {pgtype.TextOID, "ü and more"},
			{pgtype.ByteaOID, []byte{}}, {pgtype.ByteaOID, []byte{0, 255, 7}},
			{pgtype.Int8OID, int64(0)}, {pgtype.Int8OID, int64(-2)}, {pgtype.Int8OID, int64(1) << 60},
			{pgtype.TextArrayOID, []string{"a", "", "{\"ü,NULL"}},
			{pgtype.ByteaArrayOID, [][]byte{{1, 2}, {}, bytes.Repeat([]byte{9}, 1000*round)}},
			{pgtype.Int8ArrayOID, []int64{3, -1}},
		}
		var args []any
		for _, v := range values {
			args = append(args, v.is)
		}
		for i, got := range p.of(args) {
			want, err := types.Encode(values[i].oid, pgtype.BinaryFormatCode, values[i].is, nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%#v goes as %x, the driver writes %x, %v", values[i].is, got, want, err)
			}
			if got == nil {
				t.Errorf("%#v goes as NULL", values[i].is)
			}
		}
	}
}

// TestParamsWithoutNull: bytes that are nil are no bytes, alone and in an array.
func TestParamsWithoutNull(t *testing.T) {
	var p params
	alone := p.of([]any{[]byte(nil)})[0]
	if alone == nil || len(alone) != 0 {
		t.Errorf("nil bytes go as %#v", alone)
	}
	none := bytes.Clone(p.of([]any{[][]byte{nil}})[0])
	if empty := p.of([]any{[][]byte{{}}})[0]; !bytes.Equal(none, empty) {
		t.Errorf("nil bytes in an array go as %x, no bytes as %x", none, empty)
	}
}

// TestStatementsArePreparedAnew asks for more statements than stay prepared, and
// then for the first of them once more.
func TestStatementsArePreparedAnew(t *testing.T) {
	s, err := Open(t.Context(), pgtest.Shared(t).Fresh(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l := s.lane
	of := func(n int) string { return fmt.Sprintf("SELECT %d / $1::bigint", n) }
	for n := range statementsKept + 1 {
		if _, err := l.prepared(of(n)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(l.statements); n != 1 {
		t.Fatalf("%d statements are prepared", n)
	}
	for range 2 {
		if committed, err := l.write(true, of(0), []any{int64(1)}); err != nil || !committed {
			t.Fatalf("the first statement: %v, %v", committed, err)
		}
	}
	if n := len(l.statements); n != 2 {
		t.Errorf("%d statements are prepared, of two that were asked for", n)
	}
	// The positive control of the writes above: an error of the server is one.
	if committed, err := l.write(true, of(0), []any{int64(0)}); state(err) != stateGuard || committed {
		t.Errorf("a division by zero: %v, %v", committed, err)
	}
}
