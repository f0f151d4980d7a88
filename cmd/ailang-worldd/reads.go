package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"world/fault"
	"world/store"
)

// reading makes a verb that prints what one path of the daemon answers.
func reading(use, short string, args cobra.PositionalArgs, path func(args []string) (string, url.Values, error)) *cobra.Command {
	var c client
	cmd := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			p, query, err := path(args)
			if err != nil {
				return err
			}
			body, err := c.get(cmd.Context(), p, query)
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", body)
			}
			return err
		},
	}
	c.flags(cmd)
	return cmd
}

func newHealth() *cobra.Command {
	return reading("health", "Ask a running daemon what it is", cobra.NoArgs, fixed("/v1/health"))
}

func newHead() *cobra.Command {
	return reading("head", "Print the ref of the selected world", cobra.NoArgs, fixed("/v1/head"))
}

func fixed(path string) func([]string) (string, url.Values, error) {
	return func([]string) (string, url.Values, error) { return path, nil, nil }
}

func newLog() *cobra.Command {
	cmd := &cobra.Command{Use: "log", Short: "Read the log of a running daemon", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	get := reading("get INDEX", "Print one entry", cobra.ExactArgs(1), func(args []string) (string, url.Values, error) {
		index, err := strconv.ParseUint(args[0], 10, 63)
		if err != nil {
			return "", nil, fault.New("cli: log get", fault.Invalid, "log index must be a non-negative integer")
		}
		return "/v1/log/" + strconv.FormatUint(index, 10), nil, nil
	})
	var from, limit int64
	page := reading("range", "Print a page of entries, from an index upwards", cobra.NoArgs, func([]string) (string, url.Values, error) {
		return "/v1/log", url.Values{"from": {strconv.FormatInt(from, 10)}, "limit": {strconv.FormatInt(limit, 10)}}, nil
	})
	page.Flags().Int64Var(&from, "from", 0, "first log index")
	page.Flags().Int64Var(&limit, "limit", 100, "entries, at most 500")
	cmd.AddCommand(get, page)
	return cmd
}

func newObject() *cobra.Command {
	cmd := &cobra.Command{Use: "object", Short: "Read objects of a running daemon", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newObjectGet())
	return cmd
}

func newObjectGet() *cobra.Command {
	var c client
	var payload bool
	cmd := &cobra.Command{
		Use:   "get REF",
		Short: "Print an object's labels, or with --payload its exact bytes",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := store.ParseRef(args[0])
			if err != nil {
				return err
			}
			body, err := c.get(cmd.Context(), "/v1/objects/"+string(ref), url.Values{"payload": {strconv.FormatBool(payload)}})
			if err != nil {
				return err
			}
			if !payload {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", body)
				return err
			}
			b, err := payloadOf(ref, body)
			if err == nil {
				_, err = cmd.OutOrStdout().Write(b)
			}
			return err
		},
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&payload, "payload", false, "print the bytes themselves and nothing else")
	return cmd
}

// payloadOf takes the bytes out of an answer and hashes them again: the daemon is
// not trusted with what its ref can prove.
func payloadOf(ref store.Ref, body []byte) ([]byte, error) {
	var answer struct{ Payload []byte }
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fault.Wrap("cli: object get", fault.Corrupt, err, "the answer is no object")
	}
	if store.RefOf(answer.Payload) != ref {
		return nil, fault.New("cli: object get", fault.Corrupt, "the bytes do not hash to %s", ref)
	}
	return answer.Payload, nil
}
