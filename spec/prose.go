package spec

import _ "embed"

// Prose is spec/README.md: each rule as a sentence, with the names of its SMT
// definitions, theorems and Go, and what is trusted and not proved.
//
//go:embed README.md
var Prose string
