// Package spec holds the law as SMT-LIB text: the models, what is said of them,
// and the theorems.
//
// It promises that the text of this checkout is in the binary, and that a
// theorem it returns has a claim, hypotheses with names, one negated goal, and
// rests on files that exist. It runs no solver: whether a theorem holds is for
// package prove, and whether Go says the same is for package drift.
package spec

import (
	"embed"
	"io/fs"
	"maps"
	"path"
	"sort"
	"strings"

	"world/fault"
	"world/spec/smtlib"
)

//go:embed z3
var embedded embed.FS

// Embedded returns the files of spec/z3 as they were when the binary was built.
func Embedded() fs.FS {
	sub, err := fs.Sub(embedded, "z3")
	if err != nil {
		panic("spec: the embedded folder is missing: " + err.Error())
	}
	return sub
}

// Encoding is how numbers are read in a proof.
type Encoding string

const (
	Int  Encoding = "int"  // mathematical integers
	BV64 Encoding = "bv64" // Go's int64
)

// Text is how text is read.
type Text string

const (
	Sort   Text = "text-sort"   // equality and nothing else, for proofs
	String Text = "text-string" // strings of bytes, for concrete evaluation
)

const maxFile = 1 << 20 // bytes

// Chunk is one piece of a script, with the file that answers for it.
type Chunk struct {
	File string // such as "spec/z3/decision.smt2", or a name of the caller's
	Text string
}

// Book is a set of models with its theorems.
type Book struct {
	Theorems []Theorem // sorted by id
	files    map[string]Chunk
}

// Load reads a folder laid out like spec/z3. Errors are one line: file, line
// where there is one, and what is wrong.
func Load(dir fs.FS) (*Book, error) {
	b := &Book{files: map[string]Chunk{}}
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fault.Wrap("spec: load", fault.Unavailable, err, "spec/z3/%s cannot be read", name)
		}
		if entry.IsDir() || path.Ext(name) != ".smt2" {
			return nil
		}
		return b.read(dir, name)
	})
	if err != nil {
		return nil, err
	}
	if len(b.Theorems) == 0 {
		return nil, fault.New("spec: load", fault.Invalid, "spec/z3/theorems holds no theorem")
	}
	sort.Slice(b.Theorems, func(i, j int) bool { return b.Theorems[i].ID < b.Theorems[j].ID })
	return b, b.check()
}

func (b *Book) read(dir fs.FS, name string) error {
	raw, err := fs.ReadFile(dir, name)
	file := "spec/z3/" + name
	if err != nil {
		return fault.Wrap("spec: load", fault.Unavailable, err, "%s cannot be read", file)
	}
	if len(raw) > maxFile {
		return fault.New("spec: load", fault.Limit, "%s has more than %d bytes", file, maxFile)
	}
	nodes, err := smtlib.Parse(file, raw)
	if err != nil {
		return err
	}
	if path.Dir(name) == "theorems" {
		t, err := readTheorem(file, string(raw), nodes)
		if err != nil {
			return err
		}
		b.Theorems = append(b.Theorems, t)
		return nil
	}
	b.files[strings.TrimSuffix(name, ".smt2")] = Chunk{file, string(raw)}
	return nil
}

// Models returns the names of the models: every file of spec/z3 itself but the
// readings of numbers and text.
func (b *Book) Models() []string {
	var out []string
	for name := range b.files {
		if !strings.ContainsAny(name, "/") && !strings.HasPrefix(name, "num-") && !strings.HasPrefix(name, "text-") {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// File returns one file by its name below spec/z3, without extension.
func (b *Book) File(name string) (Chunk, bool) {
	c, ok := b.files[name]
	return c, ok
}

// With returns a book in which one file has another text, for mutants and
// variants. The name must be known. Theorems stay as they are.
func (b *Book) With(name, text string) *Book {
	c := b.clone()
	c.files[name] = Chunk{b.mustFile(name).File, text}
	return c
}

// WithFile is With for a text from elsewhere, which must be well-formed: errors
// name it as the chunk does.
func (b *Book) WithFile(name string, chunk Chunk) (*Book, error) {
	b.mustFile(name)
	if _, err := smtlib.Parse(chunk.File, []byte(chunk.Text)); err != nil {
		return nil, err
	}
	c := b.clone()
	c.files[name] = Chunk{chunk.File, chunk.Text + "\n"}
	return c, nil
}

func (b *Book) mustFile(name string) Chunk {
	c, ok := b.files[name]
	if !ok {
		panic("spec: no file " + name)
	}
	return c
}

func (b *Book) clone() *Book { return &Book{b.Theorems, maps.Clone(b.files)} }

// Script returns the logic, the readings of numbers and text, and the named
// files, in that order.
func (b *Book) Script(enc Encoding, text Text, names ...string) []Chunk {
	out := []Chunk{{"the prelude", "(set-logic ALL)\n"}, b.mustFile("num-" + string(enc)), b.mustFile(string(text))}
	for _, name := range names {
		out = append(out, b.mustFile(name))
	}
	return out
}

// check holds that everything the theorems name exists.
func (b *Book) check() error {
	for _, name := range []string{"num-int", "num-bv64", "text-sort", "text-string"} {
		if _, ok := b.files[name]; !ok {
			return fault.New("spec: load", fault.Invalid, "spec/z3/%s.smt2 is missing", name)
		}
	}
	for _, t := range b.Theorems {
		for _, name := range t.RestsOn {
			if _, ok := b.files[name]; !ok {
				return fault.New("spec: load", fault.Invalid, "%s:1: rests on spec/z3/%s.smt2, which is missing", t.File, name)
			}
		}
		for _, id := range t.CarriedBy {
			if by, ok := b.Theorem(id); !ok || !by.In(BV64) {
				return fault.New("spec: load", fault.Invalid, "%s:1: carried by %s, which is not a theorem in 64 bits", t.File, id)
			}
		}
	}
	return nil
}

// Theorem returns one theorem by its id.
func (b *Book) Theorem(id string) (Theorem, bool) {
	for _, t := range b.Theorems {
		if t.ID == id {
			return t, true
		}
	}
	return Theorem{}, false
}
