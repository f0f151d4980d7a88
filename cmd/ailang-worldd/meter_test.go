package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheMeterTellsRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := newMeter(&out, "verb")
		time.Sleep(2 * time.Second)
		m.tell("objects", 100)
		time.Sleep(2 * time.Second)
		m.tell("objects", 300)
		m.tell("entries", 10)
		time.Sleep(time.Second)
		m.tell("entries", 50)
		m.total("rows", 1000)
		want := "verb: 100 objects\nverb: 300 objects, 75/s\nverb: 10 entries\nverb: 50 entries, 50/s\nverb: 1000 rows in 5s, 200/s\n"
		if out.String() != want {
			t.Errorf("got %s", &out)
		}
	})
}
