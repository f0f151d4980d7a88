package runner

import (
	"fmt"
	"io"
	"strings"

	"go.starlark.net/starlark"
)

// maxStdin is how much of standard input a program gets, in bytes.
const maxStdin = 64 << 20

func (h *host) print(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return h.printTo(h.stdout, b, args, kwargs)
}

func (h *host) eprint(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return h.printTo(h.stderr, b, args, kwargs)
}

func (h *host) printTo(w io.Writer, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	sep := " "
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "sep?", &sep); err != nil {
		return nil, err
	}
	words := make([]string, len(args))
	for i, arg := range args {
		if text, ok := starlark.AsString(arg); ok {
			words[i] = text
		} else {
			words[i] = arg.String()
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(words, sep))
	return starlark.None, err
}

func (h *host) readStdin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if err := starlark.UnpackArgs(b.Name(), args, kwargs); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(h.stdin, maxStdin))
	return starlark.String(text), err
}

// fileActs are the members of the module fs, by name. Each takes a path, and write a
// text besides.
func (h *host) fileActs() map[string]func(path, text string) (starlark.Value, error) {
	w := h.worktree
	return map[string]func(path, text string) (starlark.Value, error){
		"read": func(path, _ string) (starlark.Value, error) {
			text, err := w.Read(path, h.policy.MaxTransfer)
			return starlark.String(text), err
		},
		"write":  func(path, text string) (starlark.Value, error) { return starlark.None, w.Write(path, text) },
		"remove": func(path, _ string) (starlark.Value, error) { return starlark.None, w.Remove(path) },
		"mkdir":  func(path, _ string) (starlark.Value, error) { return starlark.None, w.Mkdir(path) },
		"exists": func(path, _ string) (starlark.Value, error) {
			there, err := w.Exists(path)
			return starlark.Bool(there), err
		},
		"list": func(path, _ string) (starlark.Value, error) {
			names, err := w.List(path)
			values := make([]starlark.Value, len(names))
			for i, name := range names {
				values[i] = starlark.String(name)
			}
			return starlark.NewList(values), err
		},
	}
}

// fileAct is one member of fs: it needs FS, counts against its budget, and names
// itself and the path where it fails.
func (h *host) fileAct(name string, act func(path, text string) (starlark.Value, error)) *starlark.Builtin {
	return h.builtin(name, "FS", func(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var path, text string
		pairs := []any{"path", &path}
		if name == "fs.write" {
			pairs = append(pairs, "text", &text)
		}
		if err := starlark.UnpackArgs(name, args, kwargs, pairs...); err != nil {
			return nil, err
		}
		if h.counted && h.left <= 0 {
			return nil, fmt.Errorf("E_BUDGET_OPERATOR: effect 'FS' operator budget exhausted: limit=%d for the whole run", h.policy.Budgets["FS"])
		}
		h.left--
		value, err := act(path, text)
		if err != nil && strings.Contains(err.Error(), "read-only under this policy") || err != nil && strings.Contains(err.Error(), ".git/ is read-only") {
			return nil, fmt.Errorf("E_FS_PROTECTED: %s %s", path, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %s", name, path, err)
		}
		return value, nil
	})
}
