package report

import (
	"html/template"
	"regexp"
	"strings"

	"world/fault"
)

// rule is one row of the table of rules in spec/README.md.
type rule struct {
	Law      string // model that it is of, such as "decision"
	Title    string // of the law, for a reader
	Sentence template.HTML
	SMT      []string // names of definitions
	Theorems []string
	Go       template.HTML
	GoNames  []string
}

var (
	named   = regexp.MustCompile("`([^`]+)`")
	heading = regexp.MustCompile(`^\*\*([^*]+)\*\* \(` + "`" + `([a-z]+)\.smt2` + "`" + `\)$`)
)

// rules reads the table of rules.
func rules(prose string) ([]rule, error) {
	var out []rule
	title, law := "", ""
	for _, line := range strings.Split(prose, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.Contains(line, "---") || strings.HasPrefix(line, "| rule ") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if m := heading.FindStringSubmatch(cells[1]); m != nil {
			title, law = m[1], m[2]
			continue
		}
		out = append(out, rule{
			Law: law, Title: title, Sentence: inline(cells[1]), SMT: names(cells[2]), Theorems: names(cells[3]),
			Go: inline(cells[4]), GoNames: names(cells[4]),
		})
	}
	if len(out) == 0 {
		return nil, fault.New("report", fault.Invalid, "spec/README.md holds no table of rules")
	}
	return out, nil
}

func names(cell string) []string {
	var out []string
	for _, m := range named.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// section returns one section of the prose as HTML: paragraphs and lists.
func section(prose, title string) (template.HTML, error) {
	_, rest, found := strings.Cut(prose, "\n## "+title+"\n")
	if !found {
		return "", fault.New("report", fault.Invalid, "spec/README.md has no section %q", title)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	var out strings.Builder
	open := "" // the element that the next line goes on with
	end := func() {
		switch open {
		case "p":
			out.WriteString("</p>\n")
		case "li":
			out.WriteString("</li></ul>\n")
		}
		open = ""
	}
	for _, line := range strings.Split(text, "\n") {
		item, isItem := strings.CutPrefix(line, "- ")
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case isItem && open == "li":
			out.WriteString("</li>\n<li>" + string(inline(item)))
		case isItem:
			end()
			out.WriteString("<ul>\n<li>" + string(inline(item)))
			open = "li"
		case open == "":
			out.WriteString("<p>" + string(inline(line)))
			open = "p"
		default:
			out.WriteString(" " + string(inline(strings.TrimSpace(line))))
		}
	}
	end()
	return template.HTML(out.String()), nil
}

var bold = regexp.MustCompile(`\*\*([^*]+)\*\*`)

// inline escapes a line and sets its names and bold words.
func inline(text string) template.HTML {
	escaped := template.HTMLEscapeString(text)
	escaped = named.ReplaceAllString(escaped, "<code>$1</code>")
	return template.HTML(bold.ReplaceAllString(escaped, "<strong>$1</strong>"))
}
