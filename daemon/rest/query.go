package rest

import (
	"net/http"
	"strconv"

	"world/fault"
)

const (
	defaultPage = 100 // entries
	maxPage     = 500 // entries
)

// query reads the query parameters that a route knows and refuses all others,
// and any given twice.
func query(r *http.Request, known ...string) (map[string]string, error) {
	values := map[string]string{}
	given := r.URL.Query()
	for _, name := range known {
		if len(given[name]) > 1 {
			return nil, bad("query parameter %s is given twice", name)
		}
		if len(given[name]) == 1 {
			values[name] = given[name][0]
		}
		delete(given, name)
	}
	if len(given) > 0 {
		return nil, bad("the query holds a parameter that this route does not know")
	}
	return values, nil
}

// page reads from and limit: from the start, 100 entries, unless asked; at most 500.
func page(r *http.Request) (from int64, limit int, err error) {
	values, err := query(r, "from", "limit")
	if err != nil {
		return 0, 0, err
	}
	if text, ok := values["from"]; ok {
		if from, err = parseIndex(text); err != nil {
			return 0, 0, err
		}
	}
	limit = defaultPage
	if text, ok := values["limit"]; ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0, 0, bad("limit must be an integer")
		}
		if n >= 1 {
			limit = int(min(n, maxPage))
		}
	}
	return from, limit, nil
}

// parseIndex accepts the decimal form of a log index, digits only.
func parseIndex(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
		return 0, bad("log index must be a non-negative integer")
	}
	return n, nil
}

func bad(format string, args ...any) error {
	return fault.New("rest: read", fault.Invalid, format, args...)
}
