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
	guard     bool  // it must return so many rows, or nothing is committed
	rows      int64 // see guard
}

// composed are the statements made so far, by their parts: few, because
// transactions have few shapes, so that each stays prepared.
var composed sync.Map

// compose makes one statement of many. The server runs them on one state and in
// one round, and fails all of them when a guard counts other rows than it must: by
// a division by zero, since nothing may commit after an error.
func compose(parts []part) (string, []any) {
	var key strings.Builder
	var args, counts []any
	for _, p := range parts {
		key.WriteString(p.statement)
		key.WriteByte(';')
		args = append(args, p.args...)
		if p.guard {
			counts = append(counts, p.rows)
		}
	}
	sql, ok := composed.Load(key.String())
	if !ok {
		sql, _ = composed.LoadOrStore(key.String(), composeText(parts))
	}
	return sql.(string), append(args, counts...)
}

var placeholder = regexp.MustCompile(`\$[0-9]+`)

func composeText(parts []part) string {
	var with, guards []string
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
		with = append(with, fmt.Sprintf("p%d AS (%s)", i, statement))
		if p.guard {
			guards = append(guards, fmt.Sprintf("(SELECT count(*) FROM p%d) = ", i))
		}
	}
	for i := range guards {
		guards[i] += fmt.Sprintf("$%d::bigint", before+i+1)
	}
	return "WITH " + strings.Join(with, ", ") + " SELECT 1 / CASE WHEN " + strings.Join(guards, " AND ") + " THEN 1 ELSE 0 END"
}
