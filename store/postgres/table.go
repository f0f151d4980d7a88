package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"world/store/rows"
)

// table says how rows of one kind are written: one statement for any number of
// rows, so that every statement stays prepared.
type table struct {
	insertion string
	update    string
	changing  []int // indexes of the columns that an update sends: keys, then what may change
}

// newTable describes a table: its columns in the order of their values, each with
// the first letter of its type (text, int8, bytea); the key comes first. Changing
// names the columns that updates set, "" for a table without updates.
func newTable(name, columns, types string, keys int, changing string) table {
	all := strings.Split(columns, ", ")
	if len(all) != len(types) {
		panic("postgres: table " + name + " has columns without a type")
	}
	array := map[byte]string{'t': "text[]", 'i': "bigint[]", 'b': "bytea[]"}
	arrays := func(which []int) string {
		var list []string
		for n, i := range which {
			list = append(list, fmt.Sprintf("unnest($%d::%s) AS %s", n+1, array[types[i]], all[i]))
		}
		return strings.Join(list, ", ")
	}
	every := make([]int, len(all))
	for i := range every {
		every[i] = i
	}
	t := table{insertion: fmt.Sprintf("INSERT INTO world.%s (%s) SELECT %s", name, columns, arrays(every))}
	if changing == "" {
		return t
	}
	t.changing = every[:keys:keys]
	var set, where []string
	for i, column := range all {
		if i < keys {
			where = append(where, fmt.Sprintf("t.%s = n.%s", column, column))
		} else if slices.Contains(strings.Split(changing, ", "), column) {
			t.changing = append(t.changing, i)
			set = append(set, fmt.Sprintf("%s = n.%s", column, column))
		}
	}
	was := len(t.changing) + 1
	t.update = counted(fmt.Sprintf("UPDATE world.%s t SET %s FROM (SELECT %s, unnest($%d::bytea[]) AS was) n WHERE %s AND t.digest = n.was RETURNING 1",
		name, strings.Join(set, ", "), arrays(t.changing), was, strings.Join(where, " AND ")), was+1)
	return t
}

// counted makes a statement that returns rows fail unless it returns as many as
// the parameter of this number says. A failed statement lets nothing commit, so
// the count is a guard although COMMIT has been sent along with it.
func counted(statement string, parameter int) string {
	return fmt.Sprintf("WITH changed AS (%s) SELECT 1 / CASE WHEN count(*) = $%d::bigint THEN 1 ELSE 0 END FROM changed", statement, parameter)
}

var (
	objectTable   = newTable("objects", rows.ObjectColumns, "bttbb", 1, "")
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

// insert queues new rows.
func (t table) insert(b *pgx.Batch, values [][]any) {
	if len(values) > 0 {
		every := make([]int, len(values[0]))
		for i := range every {
			every[i] = i
		}
		b.Queue(t.insertion, transpose(values, every)...)
	}
}

// compareAndSet queues changes of rows whose digests must be as they were.
func (t table) compareAndSet(b *pgx.Batch, values [][]any, was [][]byte) {
	if len(values) > 0 {
		b.Queue(t.update, append(transpose(values, t.changing), was, int64(len(values)))...)
	}
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
