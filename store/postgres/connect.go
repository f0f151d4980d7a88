package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"world/fault"
)

// dialTime bounds one attempt to connect.
const dialTime = 5 * time.Second

// parse reads a database's URL. An error says nothing of it, because it may hold
// a password anywhere.
func parse(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fault.New("postgres: open", fault.Invalid, "the database url does not parse; it is postgres://USER:PASSWORD@HOST:PORT/NAME")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > dialTime {
		config.ConnectTimeout = dialTime
	}
	if _, ok := config.RuntimeParams["application_name"]; !ok {
		config.RuntimeParams["application_name"] = "world"
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	return config, nil
}

// setting is a session setting; settings that a server does not know are left out.
type setting struct{ name, value string }

// Settings of every connection. A reply to COMMIT must mean that it is durable,
// whatever the server's default is; stronger ones are left alone.
const durable = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit', true) IN ('off', 'local')"

// settingsOfWriter let the server end a transaction whose process has stopped, so
// that it holds up nobody; and one plan for each statement, by index, whatever
// the server thinks of tables that it has not looked at yet.
var settingsOfWriter = []setting{
	{"search_path", ""}, {"idle_in_transaction_session_timeout", "2s"}, {"lock_timeout", "8s"}, {"jit", "off"},
	{"plan_cache_mode", "force_generic_plan"}, {"enable_seqscan", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "off"},
}

// settingsOfReader spare listings a compiler. Names are always written in full.
var settingsOfReader = []setting{{"search_path", ""}, {"jit", "off"}}

const applySettings = "SELECT set_config(s.name, s.value, false) FROM unnest($1::text[], $2::text[]) s (name, value) " +
	"WHERE current_setting(s.name, true) IS NOT NULL"

func prepareSession(ctx context.Context, c *pgx.Conn, settings []setting) error {
	names, values := make([]string, len(settings)), make([]string, len(settings))
	for i, s := range settings {
		names[i], values[i] = s.name, s.value
	}
	var b pgx.Batch
	b.Queue(durable)
	b.Queue(applySettings, names, values)
	return c.SendBatch(ctx, &b).Close()
}

// dial opens one connection. Warnings of the server are counted: one that comes
// with a COMMIT says that it is less durable than was asked for.
func dial(ctx context.Context, config *pgx.ConnConfig, settings []setting, warn func()) (*pgx.Conn, error) {
	config = config.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			warn()
		}
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if err := prepareSession(ctx, c, settings); err != nil {
		c.Close(ctx)
		return nil, err
	}
	return c, nil
}
