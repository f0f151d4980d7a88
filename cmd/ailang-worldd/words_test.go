package main

import (
	"errors"
	"fmt"
	"testing"

	"world/fault"
	"world/session"
)

func TestWords(t *testing.T) {
	inner := fault.New("store: entry", fault.NotFound, "99")
	_, stutter := session.ParseGrants([]string{"X"})
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("unknown flag"), "unknown flag"},
		{fault.Wrap("op: x", fault.Unavailable, errors.New("start [exec format error]\n"), "no jail"), "no jail: start [exec format error]"},
		{fault.New("op: x", fault.Denied, "no"), "no"},
		{fault.New("op: x", fault.Locked, ""), "locked"},
		{inner, "not found: 99"},
		{fault.New("op: x", fault.NotFound, ""), "not found"},
		{fmt.Errorf("why: %w", inner), "not found: 99"},
		{exit{exitRefused, inner}, "not found: 99"},
		{fault.Wrap("cli: why", fault.NotFound, inner, "log entry"), "not found: log entry: 99"},
		{fault.Wrap("cli: why", fault.NotFound, inner, "log entry 99"), "not found: log entry 99"},
		{fault.Wrap("op: y", fault.Unavailable, inner, "the log cannot be read"), "the log cannot be read: 99"},
		{fault.Wrap("op: y", fault.Locked, errors.Join(errors.New("held"), inner), "taken"), "taken: held; 99"},
		{errors.Join(inner, errors.New("not closed")), "not found: 99; not closed"},
		{stutter, "grant 1: a grant is EFFECT=SCOPE:BUDGET"},
	} {
		if got := startupText(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
