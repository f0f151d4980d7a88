package postgres

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// part is one statement of those that a transaction writes.
type part struct {
	statement string
	args      []any
	condition bool  // the statement is one that must be true, or nothing is committed
	guard     bool  // it must return so many rows, or nothing is committed
	rows      int64 // see guard; 0 for one row at least, of a key that has one at most
}

// composed are the statements made so far: few, because transactions have few
// shapes, so that each stays prepared. They are found part by part.
var composed = struct {
	sync.Mutex
	shape
}{}

// shape is a statement, and those that go on after it.
type shape struct {
	sql  string // "" for one that was not asked for yet
	then map[string]*shape
}

// compose makes one statement of many. The server runs them on one state and in
// one round, and fails all of them when a guard counts other rows than it must: by
// a division by zero, since nothing may commit after an error.
func compose(parts []part) (string, []any) {
	n := 0
	for _, p := range parts {
		n += len(p.args) + 1
	}
	args := make([]any, 0, n)
	for _, p := range parts {
		args = append(args, p.args...)
	}
	for _, p := range parts {
		if p.guard && p.rows > 0 {
			args = append(args, p.rows)
		}
	}
	return composedOf(parts), args
}

func composedOf(parts []part) string {
	composed.Lock()
	defer composed.Unlock()
	at := &composed.shape
	for _, p := range parts {
		next := at.then[p.statement]
		if next == nil {
			if at.then == nil {
				at.then = map[string]*shape{}
			}
			next = &shape{}
			at.then[p.statement] = next
		}
		at = next
	}
	if at.sql == "" {
		at.sql = composeText(parts)
	}
	return at.sql
}

var placeholder = regexp.MustCompile(`\$[0-9]+`)

func composeText(parts []part) string {
	var with, guards []string
	var counts []int // of the guards, those that count
	before := 0
	for i, p := range parts {
		statement := placeholder.ReplaceAllStringFunc(p.statement, func(s string) string {
			n, err := strconv.Atoi(s[1:])
			if err != nil {
				panic("postgres: a placeholder without a number")
			}
			return fmt.Sprintf("$%d", before+n)
		})
		before += len(p.args)
		if p.condition {
			guards = append(guards, statement)
			continue
		}
		with = append(with, fmt.Sprintf("p%d AS (%s)", i, statement))
		switch {
		case p.guard && p.rows > 0:
			counts = append(counts, len(guards))
			guards = append(guards, fmt.Sprintf("(SELECT count(*) FROM p%d) = ", i))
		case p.guard:
			guards = append(guards, fmt.Sprintf("EXISTS (SELECT 1 FROM p%d)", i))
		}
	}
	for n, i := range counts {
		guards[i] += fmt.Sprintf("$%d::bigint", before+n+1)
	}
	return "WITH " + strings.Join(with, ", ") + " SELECT 1 / CASE WHEN " + strings.Join(guards, " AND ") + " THEN 1 ELSE 0 END"
}
