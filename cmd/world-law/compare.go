package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"world/broker/law"
	"world/drift/relate"
	"world/fault"
)

func newCompare(s *setup) *cobra.Command {
	var a, b []string
	var shape, file string
	verb := &cobra.Command{
		Use:   "compare --a EFFECT=SCOPE:BUDGET[@EXPIRES] ... --b EFFECT=SCOPE:BUDGET[@EXPIRES] ... [--request EFFECT=SCOPE:COST[@NOW]]",
		Short: "Compare two sets of grants: equivalent, implied, disjoint, never or always allowing",
		Long: `Compares what two sets of grants, each in mint order, allow: for example those of an
old and of a new session. With --request only requests of that shape count; * stands
for any effect, scope or number, LOW..HIGH for a range of numbers.

Requests that tell the sets apart are shown, each decided by both solvers; that
there is none is proved by both.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return compareVerb(cmd, s, a, b, shape, file)
		},
	}
	verb.Flags().StringArrayVar(&a, "a", nil, "one grant of the first set; repeat in mint order")
	verb.Flags().StringArrayVar(&b, "b", nil, "one grant of the second set; repeat in mint order")
	for _, set := range []string{"a", "b"} {
		verb.MarkFlagRequired(set)
	}
	verb.Flags().StringVar(&shape, "request", "*=*:*@*", "the shape of the requests that count")
	verb.Flags().StringVar(&file, "law", "", "compare under the law in this file")
	return verb
}

func compareVerb(cmd *cobra.Command, s *setup, a, b []string, shape, file string) error {
	inA, err := parseGrants(a)
	if err != nil {
		return err
	}
	inB, err := parseGrants(b)
	if err != nil {
		return err
	}
	of, err := parseShape(shape)
	if err != nil {
		return err
	}
	l, err := s.law(file)
	if err != nil {
		return err
	}
	c, err := relate.Compare(cmd.Context(), l, inA, inB, of, s.relating())
	if err != nil {
		return undecided(err)
	}
	printComparison(cmd.OutOrStdout(), c, shape)
	return nil
}

func printComparison(out io.Writer, c relate.Comparison, shape string) {
	switch {
	case c.Equivalent():
		fmt.Fprintln(out, "equivalent: they allow the same")
	case c.AImpliesB():
		fmt.Fprintln(out, "a implies b: b allows all that a allows, and more")
	case c.BImpliesA():
		fmt.Fprintln(out, "b implies a: a allows all that b allows, and more")
	default:
		fmt.Fprintln(out, "neither implies the other")
	}
	if c.Disjoint() {
		fmt.Fprintln(out, "disjoint: no request is allowed by both")
	}
	fmt.Fprintf(out, "of the requests %s, a allows: %s; b allows: %s\n", shape, c.A(), c.B())
	for _, w := range []struct {
		what string
		r    *law.Request
	}{{"only a allows", c.OnlyA}, {"only b allows", c.OnlyB}, {"both allow", c.Both}, {"neither allows", c.Neither}} {
		if w.r != nil {
			fmt.Fprintf(out, "%s, for example: '%s=%s:%d@%d'\n", w.what, w.r.Effect, w.r.Scope, w.r.Cost, w.r.Now)
		}
	}
}

func parseGrants(texts []string) ([]law.Grant, error) {
	var out []law.Grant
	for _, text := range texts {
		effect, scope, budget, expires, err := parseTerm(text, math.MaxInt64)
		if err != nil {
			return nil, err
		}
		out = append(out, law.Grant{Effect: effect, Scope: scope, ExpiresAt: expires, Budget: budget})
	}
	return out, nil
}

// parseShape reads EFFECT=SCOPE:COST[@NOW] in which every part may be *, and a
// number may be LOW..HIGH.
func parseShape(text string) (relate.Shape, error) {
	bad := fault.New("compare", fault.Invalid, "%q is not EFFECT=SCOPE:COST or EFFECT=SCOPE:COST@NOW, each part a value, * or LOW..HIGH", text)
	effect, rest, hasScope := strings.Cut(text, "=")
	colon := strings.LastIndexByte(rest, ':')
	if !hasScope || colon < 0 || effect == "" || colon == 0 {
		return relate.Shape{}, bad
	}
	cost, now, hasTime := strings.Cut(rest[colon+1:], "@")
	if !hasTime {
		now = "*"
	}
	costs, ok1 := parseRange(cost)
	times, ok2 := parseRange(now)
	if !ok1 || !ok2 {
		return relate.Shape{}, bad
	}
	shape := relate.Shape{Cost: costs, Now: times}
	if effect != "*" {
		shape.Effect = law.Effect(effect)
	}
	if scope := rest[:colon]; scope != "*" {
		shape.Scope = law.Scope(scope)
	}
	return shape, nil
}

func parseRange(text string) (relate.Range, bool) {
	if text == "*" {
		return relate.Range{Low: math.MinInt64, High: math.MaxInt64}, true
	}
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		high = low
	}
	from, err1 := strconv.ParseInt(low, 10, 64)
	to, err2 := strconv.ParseInt(high, 10, 64)
	return relate.Range{Low: from, High: to}, err1 == nil && err2 == nil
}
