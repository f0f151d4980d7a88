package lang

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

//go:embed examples
var embedded embed.FS

// Example is one small program that shows something. Its first line says what, its
// second one may name tags.
type Example struct {
	File   string
	About  string
	Tags   []string
	Source string
}

const (
	maxExamples = 2000    // files
	maxExample  = 1 << 18 // bytes of one
)

// Examples returns the corpus in a directory, "" for the one that is built in,
// sorted by file name. Files that are no programs, or too large, are passed over.
func Examples(dir string) ([]Example, error) {
	corpus, err := fs.Sub(embedded, "examples")
	if err != nil {
		return nil, err
	}
	if dir != "" {
		corpus = os.DirFS(dir)
	}
	var all []Example
	err = fs.WalkDir(corpus, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || len(all) == maxExamples {
			return err
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || Of(name) == "" || info.Size() > maxExample {
			return nil
		}
		source, err := fs.ReadFile(corpus, name)
		if err == nil {
			all = append(all, readExample(name, string(source)))
		}
		return nil
	})
	return all, err
}

func readExample(name, source string) Example {
	e := Example{File: name, Source: source}
	for i, line := range strings.SplitN(source, "\n", 3) {
		line = strings.TrimSpace(strings.TrimLeft(line, "#-/ "))
		if tags, ok := strings.CutPrefix(line, "tags:"); ok && i > 0 {
			for tag := range strings.SplitSeq(tags, ",") {
				e.Tags = append(e.Tags, strings.TrimSpace(tag))
			}
		} else if i == 0 {
			e.About = line
		}
	}
	return e
}

// Found is an example and how well it fits a query, from above 0 to 1.
type Found struct {
	Example
	Score float64
}

// SearchExamples returns the examples that fit best, at most limit of them.
func SearchExamples(all []Example, query string, limit int) []Found {
	words := strings.Fields(strings.ToLower(query))
	var found []Found
	for _, e := range all {
		if score := e.score(words); score > 0 {
			found = append(found, Found{e, score})
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return strings.Compare(a.File, b.File)
	})
	return found[:min(limit, len(found))]
}

// score is the mean over the query's words of where each is found: fully in the
// description, the tags or the name, half in the text.
func (e Example) score(words []string) float64 {
	head := strings.ToLower(strings.Join(append([]string{e.About, path.Base(e.File)}, e.Tags...), " "))
	text := strings.ToLower(e.Source)
	sum := 0.0
	for _, word := range words {
		switch {
		case strings.Contains(head, word):
			sum++
		case strings.Contains(text, word):
			sum += 0.5
		}
	}
	if len(words) == 0 {
		return 0
	}
	return sum / float64(len(words))
}

// String is how a search shows an example.
func (f Found) String() string {
	return fmt.Sprintf("%s (%.2f, %s)\n   tags: %s\n", f.File, f.Score, f.About, strings.Join(f.Tags, ", "))
}
