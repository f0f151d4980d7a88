package confine

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestEndingText: an ending is read as it was written, whichever way it was written.
func TestEndingText(t *testing.T) {
	for _, want := range []ending{
		{}, {Exit: 3}, {Exit: -1, Bound: CPUBound}, {Exit: 126, Unstarted: true}, {Applied: WasApplied, Changes: []byte("[]\x00")},
		{Exit: 1, Applied: MaybeApplied}, {Refused: "\"a\" is closed\n"}, {Bound: ScratchBound, Refused: notJudged, Unjudged: true},
	} {
		text, err := want.text()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Count(text, []byte("\n")) != 1 || !bytes.HasPrefix(text, []byte("{")) || !bytes.HasSuffix(text, []byte("\n")) {
			t.Errorf("%+v is not a line: %q", want, text)
		}
		if got, _, err := readReport(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v is read as %+v, %v", want, got, err)
		}
	}
}

// TestStartLine: a start is read as it was written, and what is none is refused.
func TestStartLine(t *testing.T) {
	for _, want := range []start{{}, {Wall: time.Hour}, {Wall: 1, Args: []string{}}, {Wall: 2, Args: []string{"a b", "", "\n", "ü\""}}} {
		line, err := want.line()
		if err != nil {
			t.Fatal(err)
		}
		text, ended := strings.CutSuffix(string(line), "\n")
		if got, err := readStart(text); err != nil || !ended || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v is read as %+v, %v", want, got, err)
		}
	}
	for _, line := range []string{"", "1", "1 ", "x null", "1 {}", "1 null null", "99999999999999999999 null"} {
		if got, err := readStart(line); err == nil {
			t.Errorf("%q is read as %+v", line, got)
		}
	}
}
