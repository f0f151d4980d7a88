package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"world/store/rows"
)

// table says how rows of one kind are written. Many rows are one statement of
// arrays, so that it stays prepared whatever their number is; as many rows as one
// call writes are named one by one, which the server runs faster.
type table struct {
	insertion string   // of many rows
	few       []string // insertions by the number of rows, as far as they are few
	update    string   // of many rows, returns a row for each it changes
	updateOne string   // of one row
	changing  []int    // indexes of the columns that an update sends: keys, then what may change
}

// callObjects is how many objects each transaction of a usual call has at most.
const callObjects = 4

// newTable describes a table: its columns in the order of their values, each with
// the first letter of its type (text, int8, bytea); the key comes first. Changing
// names the columns that updates set, "" for a table without updates.
func newTable(name, columns, types string, keys int, changing string) table {
	return newTableOf(1, name, columns, types, keys, changing)
}

// newTableOf describes a table of which one call writes so many rows.
func newTableOf(few int, name, columns, types string, keys int, changing string) table {
	all := strings.Split(columns, ", ")
	if len(all) != len(types) {
		panic("postgres: table " + name + " has columns without a type")
	}
	sql := map[byte]string{'t': "text", 'i': "bigint", 'b': "bytea"}
	arrays := func(which []int) string {
		var list []string
		for n, i := range which {
			list = append(list, fmt.Sprintf("unnest($%d::%s[]) AS %s", n+1, sql[types[i]], all[i]))
		}
		return strings.Join(list, ", ")
	}
	t := table{few: make([]string, few+1), insertion: fmt.Sprintf("INSERT INTO world.%s (%s) SELECT %s", name, columns, arrays(every(len(all))))}
	var groups []string
	for n := range few {
		var list []string
		for i := range all {
			list = append(list, fmt.Sprintf("$%d::%s", n*len(all)+i+1, sql[types[i]]))
		}
		groups = append(groups, "("+strings.Join(list, ", ")+")")
		t.few[n+1] = fmt.Sprintf("INSERT INTO world.%s (%s) VALUES %s", name, columns, strings.Join(groups, ", "))
	}
	if changing == "" {
		return t
	}
	t.changing = every(keys)
	var set, setOne, where, whereOne []string
	for i, column := range all {
		if i < keys {
			where = append(where, fmt.Sprintf("t.%s = n.%s", column, column))
			whereOne = append(whereOne, fmt.Sprintf("t.%s = $%d::%s", column, i+1, sql[types[i]]))
		} else if slices.Contains(strings.Split(changing, ", "), column) {
			t.changing = append(t.changing, i)
			set = append(set, fmt.Sprintf("%s = n.%s", column, column))
			setOne = append(setOne, fmt.Sprintf("%s = $%d::%s", column, len(t.changing), sql[types[i]]))
		}
	}
	was := len(t.changing) + 1
	t.update = fmt.Sprintf("UPDATE world.%s t SET %s FROM (SELECT %s, unnest($%d::bytea[]) AS was) n WHERE %s AND t.digest = n.was RETURNING 1",
		name, strings.Join(set, ", "), arrays(t.changing), was, strings.Join(where, " AND "))
	t.updateOne = fmt.Sprintf("UPDATE world.%s t SET %s WHERE %s AND t.digest = $%d::bytea RETURNING 1",
		name, strings.Join(setOne, ", "), strings.Join(whereOne, " AND "), was)
	return t
}

var (
	objectTable   = newTableOf(callObjects, "objects", rows.ObjectColumns, "bttbb", 1, "")
	claimTable    = newTable("claims", rows.ClaimColumns, "tttbbbib", 1, "")
	intentTable   = newTable("intents", rows.IntentColumns, "titttibiitbbibb", 2, "status, record, detail, outcome_at, reconciled, digest")
	entryTable    = newTable("log", rows.EntryColumns, "iibbbtbbbbtb", 1, "")
	headTable     = newTable("head", "id, "+rows.HeadColumns, "iibbbb", 1, rows.HeadColumns)
	spendTable    = newTable("spend", spendColumns, "tttiib", 3, "total, ceiling, digest")
	leaseTable    = newTable("leases", leaseColumns, "titiitb", 1, "epoch, owner, until, free, wanted, digest")
	sessionTable  = newTable("sessions", rows.SessionColumns, "itbtiibb", 1, "revocation, digest")
	registryTable = newTable("registry", rows.RegistryColumns, "tbb", 1, "object, digest")
	metaTable     = newTable("meta", metaColumns, "ttb", 1, "value, digest")
)

// adding is the part of a transaction that inserts rows. For several changes the
// statement is the one of many rows, so that it does not depend on how many.
func (t table) adding(several bool, values [][]any) part {
	if n := len(values); n < len(t.few) && !several {
		return part{statement: t.few[n], args: slices.Concat(values...)}
	}
	return part{statement: t.insertion, args: transpose(values, every(len(values[0])))}
}

// comparing is the part of a transaction that changes rows whose digests must be
// as they were.
func (t table) comparing(several bool, values [][]any, was [][]byte) part {
	p := part{statement: t.update, args: append(transpose(values, t.changing), was), rows: int64(len(values)), guard: true}
	if len(values) == 1 && !several {
		p.statement, p.args, p.rows = t.updateOne, nil, 0
		for _, i := range t.changing {
			p.args = append(p.args, values[0][i])
		}
		p.args = append(p.args, was[0])
	}
	return p
}

// insert queues new rows, however many.
func (t table) insert(b *pgx.Batch, values [][]any) {
	if len(values) > 0 {
		b.Queue(t.insertion, transpose(values, every(len(values[0])))...)
	}
}

// compareAndSet queues changes of rows whose digests must be as they were.
func (t table) compareAndSet(b *pgx.Batch, values [][]any, was [][]byte) {
	sql, args := compose([]part{t.comparing(false, values, was)})
	b.Queue(sql, args...)
}

func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// transpose turns rows into columns, as arrays of their type.
func transpose(values [][]any, columns []int) []any {
	args := make([]any, len(columns))
	for n, i := range columns {
		switch values[0][i].(type) {
		case string:
			args[n] = column[string](values, i)
		case int64:
			args[n] = column[int64](values, i)
		case []byte:
			args[n] = column[[]byte](values, i)
		default:
			panic(fmt.Sprintf("postgres: a column of %T", values[0][i]))
		}
	}
	return args
}

func column[T any](values [][]any, i int) []T {
	c := make([]T, len(values))
	for n, v := range values {
		c[n] = v[i].(T)
	}
	return c
}
