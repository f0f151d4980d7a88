package postgres

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// catalogue is what the server says of a schema that this build has made: every
// table, column, constraint, index, trigger and rule, a line each.
//
//go:embed catalogue.txt
var catalogue string

// describe asks the server for the lines of catalogue. Constraints that are not
// enforced, indexes that are not valid and triggers that are off say so.
const describe = `
WITH tables AS (
  SELECT c.oid, c.relname AS name, c.relkind, c.relpersistence, c.relrowsecurity
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'world' AND c.relkind NOT IN ('i', 'I', 't')
)
SELECT 'table ' || name || CASE WHEN relkind = 'r' AND relpersistence = 'p' AND NOT relrowsecurity THEN '' ELSE ', not an ordinary one' END FROM tables
UNION ALL
SELECT 'column ' || t.name || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
  || CASE WHEN a.attnotnull THEN ' not null' ELSE '' END
  || coalesce(' collate ' || (SELECT o.collname FROM pg_collation o WHERE o.oid = a.attcollation), '')
  || coalesce(' ' || a.attgenerated::text || ' ' || pg_get_expr(d.adbin, d.adrelid), '')
FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
UNION ALL
SELECT 'constraint ' || t.name || '.' || c.conname || ' ' || pg_get_constraintdef(c.oid)
FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('p', 'u', 'f', 'c', 'x')
UNION ALL
SELECT 'index ' || t.name || ' ' || pg_get_indexdef(i.indexrelid) || CASE WHEN i.indisvalid AND i.indisready THEN '' ELSE ', not valid' END
FROM tables t JOIN pg_index i ON i.indrelid = t.oid
UNION ALL
SELECT 'trigger ' || t.name || '.' || g.tgname || CASE WHEN g.tgenabled = 'O' THEN '' ELSE ', off' END
FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND (NOT g.tgisinternal OR g.tgenabled <> 'O')
UNION ALL
SELECT 'rule ' || t.name || '.' || r.rulename FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid`

func readCatalogue(ctx context.Context, q querier) ([]string, error) {
	found, err := q.Query(ctx, describe)
	if err != nil {
		return nil, err
	}
	lines, err := pgx.CollectRows(found, pgx.RowTo[string])
	slices.Sort(lines)
	return lines, err
}

// catalogueDifferences names what the database has too much, too little or
// otherwise.
func catalogueDifferences(ctx context.Context, q querier) ([]string, error) {
	got, err := readCatalogue(ctx, q)
	if err != nil {
		return nil, err
	}
	want := strings.Split(strings.TrimSuffix(catalogue, "\n"), "\n")
	var lines []string
	for _, line := range want {
		if _, ok := slices.BinarySearch(got, line); !ok {
			lines = append(lines, "missing: "+line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			lines = append(lines, "does not belong here: "+line)
		}
	}
	return lines, nil
}
