package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"world/broker/law"
	"world/drift"
	"world/fault"
)

// question is what decide is asked, as flags give it.
type question struct {
	grants  []string
	request string
	law     string
}

func newDecide(s *setup) *cobra.Command {
	var q question
	verb := &cobra.Command{
		Use:   "decide --grant EFFECT=SCOPE:BUDGET[@EXPIRES] ... --request EFFECT=SCOPE:COST[@NOW]",
		Short: "Decide one request with the Go law and with the model",
		Long: `Decides one request over grants in mint order, by broker/law and by the model in
each solver. With --law FILE the file takes the place of spec/z3/decision.smt2 and
the Go law is shown for comparison only.

EXPIRES and NOW are unix seconds; without them a grant does not expire and it is
second 0. Exit 1: the answers differ.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return decideVerb(cmd, s, q)
		},
	}
	verb.Flags().StringArrayVar(&q.grants, "grant", nil, "one grant; repeat in mint order")
	verb.Flags().StringVar(&q.request, "request", "", "the request")
	verb.Flags().StringVar(&q.law, "law", "", "a law file with the same functions as spec/z3/decision.smt2")
	verb.MarkFlagRequired("request")
	return verb
}

func decideVerb(cmd *cobra.Command, s *setup, q question) error {
	c, err := q.parse()
	if err != nil {
		return err
	}
	decides, err := s.law(q.law)
	if err != nil {
		return err
	}
	var out bytes.Buffer // shown whole or not at all
	fmt.Fprintf(&out, "%-10s  %-18s  %5s  %20s  %20s\n", "by", "label", "grant", "before", "remaining")
	goes := law.Decide(c.Grants, c.Request)
	answer(&out, "broker/law", goes, goes.Verdict.Label())
	differ := false
	for _, p := range s.solvers() {
		m, err := drift.Open(cmd.Context(), decides.Book, p, s.limit)
		if err != nil {
			return err
		}
		ds, err := m.Decide([]drift.Case{c})
		label := ""
		if err == nil {
			label = m.Label(ds[0].Verdict)
		}
		m.Close()
		if err != nil {
			return err
		}
		answer(&out, p.Name, ds[0], label)
		differ = differ || ds[0] != goes || label != goes.Verdict.Label()
	}
	if _, err := out.WriteTo(cmd.OutOrStdout()); err != nil {
		return err
	}
	if differ && q.law == "" {
		return errNot("the answers differ")
	}
	return nil
}

func answer(out io.Writer, by string, d law.Decision, label string) {
	fmt.Fprintf(out, "%-10s  %-18s  %5d  %20d  %20d\n", by, label, d.Grant, d.BudgetBefore, d.Remaining)
}

func (q question) parse() (drift.Case, error) {
	var c drift.Case
	var err error
	if c.Grants, err = parseGrants(q.grants); err != nil {
		return c, err
	}
	effect, scope, cost, now, err := parseTerm(q.request, 0)
	c.Request = law.Request{Effect: effect, Scope: scope, Cost: cost, Now: now}
	return c, err
}

// parseTerm reads EFFECT=SCOPE:N[@T], any int64 for N and T: unlike a grant at
// mint, a question may be about numbers that no session holds.
func parseTerm(text string, otherwise int64) (law.Effect, law.Scope, int64, int64, error) {
	bad := fault.New("decide", fault.Invalid, "%q is not EFFECT=SCOPE:NUMBER or EFFECT=SCOPE:NUMBER@SECONDS", text)
	effect, rest, hasScope := strings.Cut(text, "=")
	colon := strings.LastIndexByte(rest, ':')
	if !hasScope || colon < 0 {
		return "", "", 0, 0, bad
	}
	number, at, hasTime := strings.Cut(rest[colon+1:], "@")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", "", 0, 0, bad
	}
	t := otherwise
	if hasTime {
		if t, err = strconv.ParseInt(at, 10, 64); err != nil {
			return "", "", 0, 0, bad
		}
	}
	return law.Effect(effect), law.Scope(rest[:colon]), n, t, nil
}
