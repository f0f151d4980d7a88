// Package secret takes passwords out of a program's command line.
//
// It promises that from the first statement of main on, nobody who lists
// processes reads the password of a database URL there. Whoever looks in the
// moment before still can: PGPASSWORD and password files are for that.
package secret

import (
	"net/url"
	"os"
	"strings"
	"unsafe"

	"world/store/engine"
)

// Args returns the program's arguments and wipes the passwords of database URLs
// from the memory where the kernel shows them. It is called once, first.
func Args() []string {
	args := make([]string, len(os.Args))
	for i, arg := range os.Args {
		args[i] = strings.Clone(arg)
	}
	for _, arg := range os.Args[1:] {
		_, db, flag := strings.Cut(arg, "=") // --db=URL and URL alike
		if !flag || !engine.Database(db) {
			db = arg
		}
		if engine.Database(db) {
			wipe(db)
		}
	}
	return args[1:]
}

// wipe overwrites what of a URL may be a password: everything after the user's
// name up to the host, and the settings that hold one. The runtime lets the
// strings of os.Args lie where the kernel put them, on the process's own stack.
func wipe(db string) {
	for _, span := range spans(db) {
		if span == "" {
			continue
		}
		shown := unsafe.Slice(unsafe.StringData(span), len(span))
		for i := range shown {
			shown[i] = 'x'
		}
	}
}

// spans are the parts of a URL that hold passwords, as substrings of it.
func spans(db string) []string {
	var found []string
	_, rest, _ := strings.Cut(db, "://")
	authority, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		if _, password, ok := strings.Cut(authority[:at], ":"); ok {
			found = append(found, password)
		}
	}
	_, query, _ := strings.Cut(db, "?")
	for setting := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(setting, "=")
		if plain, err := url.QueryUnescape(name); err != nil || strings.HasSuffix(plain, "password") {
			found = append(found, value)
		}
	}
	return found
}
