package policy

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"world/confine"
)

// protectedDirs and protectedFiles steer other programs on the operator's machine
// (hooks, agents, continuous integration, git itself), so tools never write them.
// .git is protected even without a policy.
var (
	protectedDirs  = []string{".github", ".pi", ".claude", ".ailang"}
	protectedFiles = []string{".gitmodules", ".gitattributes"}
)

// gitDir is protected by the tool itself, as AILANG protects it. It is not read
// either: the .git file of a worktree says where on the host its repository lies.
const gitDir = ".git"

// aside is why nobody reads or makes a name under which a tool keeps what is not yet
// in its place.
const aside = "is a name for what the lane's tools have not put in its place yet"

// Protected lists the names that are never written, at any depth and in any
// case: those that cover all below them, and those that cover files only.
func Protected() (names, files []string) {
	return append([]string{gitDir}, protectedDirs...), slices.Clone(protectedFiles)
}

// Closed says why a relative path may not even be read, "" when it may be.
func Closed(relative string) string {
	parts := strings.Split(foldPath(relative), "/")
	if slices.Contains(parts, gitDir) {
		return ".git is closed to the lane's tools: it names places of the host"
	}
	if slices.ContainsFunc(parts, confine.IsAside) {
		return aside
	}
	return ""
}

// denyWrite renders the protected names as AILANG's patterns. A directory pattern
// is compared literally there, so each way of writing its letters that folds to
// the same name is listed; a file pattern is a match over character classes.
var denyWrite = sync.OnceValue(func() []string {
	var patterns []string
	for _, name := range protectedDirs {
		for _, spelling := range spellings(name) {
			patterns = append(patterns, spelling+"/**")
		}
	}
	for _, name := range protectedFiles {
		var b strings.Builder
		for _, r := range name {
			if variants := foldings(r); len(variants) > 1 {
				b.WriteString("[" + string(variants) + "]")
				continue
			}
			b.WriteRune(r)
		}
		patterns = append(patterns, b.String())
	}
	return patterns
})

// spellings lists every name that folds to this one, itself first.
func spellings(name string) []string {
	all := []string{""}
	for _, r := range name {
		var longer []string
		for _, prefix := range all {
			for _, variant := range foldings(r) {
				longer = append(longer, prefix+string(variant))
			}
		}
		all = longer
	}
	return all
}

// foldings lists the runes equal to r under simple case folding, r first.
func foldings(r rune) []rune {
	all := []rune{r}
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		all = append(all, next)
	}
	slices.Sort(all[1:])
	return all
}

// Protection says why a relative path may not be written, "" when it may be. A
// protected name protects at any depth: a nested repository's .git as well as the
// worktree's own.
func (p Policy) Protection(relative string) string { return p.Law().Protection(relative) }

// Law is what a policy protects, ready to be asked often.
type Law struct{ given, folded []string } // patterns

// Law returns what the policy protects.
func (p Policy) Law() Law {
	l := Law{given: p.DenyWrite}
	for _, pattern := range p.DenyWrite {
		l.folded = append(l.folded, foldPath(pattern))
	}
	return l
}

// Protection is that of the policy.
func (l Law) Protection(relative string) string {
	folded := foldPath(relative)
	parts := strings.Split(folded, "/")
	for i, part := range parts {
		if part == gitDir {
			return ".git/ is read-only to the lane's tools"
		}
		if confine.IsAside(part) {
			return aside
		}
		if slices.Contains(protectedDirs, part) {
			return matches(part + "/**")
		}
		if slices.Contains(protectedFiles, part) && i == len(parts)-1 {
			return matches(part)
		}
	}
	for i := range l.given {
		if denies(l.folded[i], folded) {
			return matches(l.given[i])
		}
	}
	return ""
}

func matches(pattern string) string {
	return `matches fs_deny_write "` + pattern + `" — read-only under this policy`
}

// denies applies one folded pattern of a policy to a folded path: "dir/**" covers dir and
// all below it, anything else is compared with the whole path and with the base name.
func denies(pattern, folded string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/**"); ok {
		return folded == dir || strings.HasPrefix(folded, dir+"/")
	}
	for _, name := range []string{folded, path.Base(folded)} {
		if ok, err := path.Match(pattern, name); ok || err != nil {
			return true
		}
	}
	return false
}

func foldPath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = fold(part)
	}
	return strings.Join(parts, "/")
}

// fold maps a name to what a forgiving file system could take it for: letters to
// the smallest of their case variants (which turns U+017F into s and U+212A into
// k, the two letters that normalise to ASCII), characters that are not shown left
// out, dots and blanks at the end, and an NTFS stream or short name cut off.
func fold(name string) string {
	if strings.IndexFunc(name, notPlain) < 0 {
		return ending(strings.ToLower(name))
	}
	return ending(strings.Map(func(r rune) rune {
		if unprintable(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return unicode.ToLower(slices.Min(foldings(r)))
	}, name))
}

// notPlain reports a character that may fold to something else than its small letter.
func notPlain(r rune) bool { return r < ' ' || r > '~' }

// ending folds the end of a name.
func ending(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	if name == "git~1" {
		return gitDir
	}
	return name
}

// unprintable reports control, format, private and unassigned characters.
func unprintable(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }
