package main

import (
	"errors"
	"io"
	"os"

	"world/drift/relate"
	"world/fault"
	"world/spec"
)

// law returns the law in a file, or the book's own if there is none.
func (s *setup) law(file string) (relate.Law, error) {
	book, err := s.book()
	if err != nil {
		return relate.Law{}, err
	}
	if file == "" {
		return relate.Base(book)
	}
	text, err := readFile(file)
	if err != nil {
		return relate.Law{}, err
	}
	return relate.Read(book, text)
}

// readFile reads SMT-LIB text of at most one MiB.
func readFile(file string) (spec.Chunk, error) {
	const limit = 1 << 20
	f, err := os.Open(file)
	if err != nil {
		return spec.Chunk{}, fault.Wrap("law", fault.Unavailable, err, "%s cannot be read", file)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || len(raw) > limit {
		return spec.Chunk{}, fault.New("law", fault.Invalid, "%s cannot be read, or has more than %d bytes", file, limit)
	}
	return spec.Chunk{File: file, Text: string(raw)}, nil
}

// relating is what is asked about two laws.
func (s *setup) relating() relate.Options {
	return relate.Options{Solvers: s.solvers(), Limit: s.limit}
}

// undecided separates what was tried and not settled from what could not be tried.
func undecided(err error) error {
	if u := relate.Undecided(""); errors.As(err, &u) {
		return errNot(u)
	}
	return err
}
