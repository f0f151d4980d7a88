package main

import (
	"errors"
	"os"
	"syscall"

	"world/drift/relate"
	"world/fault"
	"world/infile"
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
// maxText is how many bytes of a law file, or of a list of mutants, are read.
const maxText = 1 << 20

func readFile(file string) (spec.Chunk, error) {
	raw, err := infile.Read(file, maxText)
	return spec.Chunk{File: file, Text: string(raw)}, err
}

// relating is what is asked about two laws.
// writeFile writes a file anew. A pipe must have its reader already.
func writeFile(file string, raw []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err == nil {
		_, err = f.Write(raw)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fault.Wrap("law", fault.Unavailable, err, "%q cannot be written", file)
	}
	return nil
}

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
