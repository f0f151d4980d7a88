package ssasmt

import (
	"slices"
)

func (t *terms) not(a *term) *term {
	switch {
	case a == t.yes:
		return t.no
	case a == t.no:
		return t.yes
	case a.head == "not":
		return a.args[0]
	}
	return t.make("not", a)
}

func (t *terms) and(a, b *term) *term {
	switch {
	case a == t.no || b == t.no:
		return t.no
	case a == t.yes || a == b:
		return b
	case b == t.yes:
		return a
	}
	return t.make("and", a, b)
}

// or joins two conditions. What both begin with is written once, and a
// condition and its opposite cancel: conditions of paths that meet again would
// otherwise double at every join.
func (t *terms) or(a, b *term) *term {
	as, bs := conjuncts(a), conjuncts(b)
	n := common(as, bs)
	as, bs = as[n:], bs[n:]
	rest := t.yes
	if len(as) > 0 && len(bs) > 0 {
		if as[0] == t.not(bs[0]) { // (x and y) or not x is y or not x
			switch {
			case len(bs) == 1:
				as = as[1:]
			case len(as) == 1:
				bs = bs[1:]
			}
		}
		x, y := t.all(as), t.all(bs)
		switch {
		case x == t.yes || y == t.yes || x == t.not(y):
		case x == t.no:
			rest = y
		case y == t.no || x == y:
			rest = x
		default:
			rest = t.make("or", x, y)
		}
	}
	return t.and(t.all(conjuncts(a)[:n]), rest)
}

// any joins conditions, those first that have most in common.
func (t *terms) any(conds []*term) *term {
	conds = slices.Clone(conds)
	for len(conds) > 1 {
		x, y, most := 0, 1, -1
		for i := range conds {
			for j := range i {
				if n := common(conjuncts(conds[i]), conjuncts(conds[j])); n > most {
					x, y, most = j, i, n
				}
			}
		}
		conds[x] = t.or(conds[x], conds[y])
		conds = slices.Delete(conds, y, y+1)
	}
	if len(conds) == 0 {
		return t.no
	}
	return conds[0]
}

// relative drops what all conditions begin with.
func (t *terms) relative(conds []*term) []*term {
	if len(conds) == 0 {
		return nil
	}
	prefix := conjuncts(conds[0])
	for _, c := range conds[1:] {
		prefix = prefix[:common(prefix, conjuncts(c))]
	}
	short := make([]*term, len(conds))
	for i, c := range conds {
		short[i] = t.all(conjuncts(c)[len(prefix):])
	}
	return short
}

// conjuncts lists what a condition joins by and, outermost first.
func conjuncts(a *term) []*term {
	if a.head != "and" {
		return []*term{a}
	}
	return append(conjuncts(a.args[0]), a.args[1])
}

// common counts the conditions that both lists begin with.
func common(as, bs []*term) int {
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return n
}

func (t *terms) all(conds []*term) *term {
	joined := t.yes
	for _, c := range conds {
		joined = t.and(joined, c)
	}
	return joined
}

func (t *terms) ite(cond, then, els *term) *term {
	switch {
	case cond == t.yes || then == els:
		return then
	case cond == t.no:
		return els
	case then == t.yes && els == t.no:
		return cond
	case then == t.no && els == t.yes:
		return t.not(cond)
	}
	return t.make("ite", cond, then, els)
}
