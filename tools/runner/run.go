package runner

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"world/fault"
	"world/infile"
	"world/tools/lang"
	"world/tools/policy"
)

// CallerBounds is the flag by which a caller says that it bounds time itself, so that
// there is one clock, and that the verb is to die with a program that prints too much:
// what either ends has not ended by itself.
const CallerBounds = "caller-bounds"

// order is one run as it was asked for.
type order struct {
	policyFile string
	argsJSON   string
	withArgs   bool
	bounded    bool // by the caller
	file       string
	args       []string
}

// Serve runs one program and returns the exit code of the contract.
func Serve(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	began := time.Now()
	fail := func(what string) int {
		fmt.Fprintln(stderr, "Error: --policy:", what)
		return exitRefused
	}
	o, problem := readOrder(args)
	if problem != "" {
		return fail(problem)
	}
	p, digest, problem := readPolicy(o.policyFile)
	if problem != "" {
		return fail(problem)
	}
	d := admit(p, o.file, o.withArgs)
	if !d.OK {
		shown, err := json.MarshalIndent(denial{o.file, digest, d, d.ErrorKind == tooLarge}, "", "  ")
		if err != nil {
			panic("runner: a denial does not marshal: " + err.Error())
		}
		fmt.Fprintf(stdout, "%s\n", shown)
		return d.exit
	}
	command := o.command(d)
	until := began.Add(time.Duration(p.TimeoutMillis) * time.Millisecond)
	if o.bounded {
		until = time.Time{}
	}
	relay := newRelay(stdout, stderr, p.MaxOutput)
	attend := watch
	if d.language == string(lang.Starlark) {
		attend = watchWorker
	}
	end := attend(command, stdin, relay, until)
	if end.unstarted != nil {
		return fail("the interpreter cannot be started")
	}
	if o.bounded && end.reason == reasonOutput {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	a := newAdmission(p, digest, d)
	a.EndedLine = relay.endLine()
	if end.gaveUp != "" {
		fmt.Fprintf(stderr, "Error: %s: %s\n", o.file, end.gaveUp)
		a.EndedLine = false
	}
	say(stderr, "policy", a)
	if end.reason == "" {
		return end.code
	}
	say(stderr, "policy-result", limitLine{end.message(p), digest, end.reason, p.SecurityMode, "execute", 1})
	return exitLimit
}

// readOrder reads the command line. What would widen a policy is not among its flags.
func readOrder(args []string) (o order, problem string) {
	flags := flag.NewFlagSet(Verb, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.policyFile, "policy", os.Getenv("AILANG_AGENT_POLICY"), "")
	flags.BoolVar(&o.bounded, CallerBounds, false, "")
	flags.Bool("quiet", false, "")
	flags.Bool("verbose", false, "")
	flags.StringVar(&o.argsJSON, "args-json", "", "")
	if err := flags.Parse(args); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
			return o, "--" + name + " is not allowed with --policy"
		}
		return o, err.Error()
	}
	flags.Visit(func(f *flag.Flag) { o.withArgs = o.withArgs || f.Name == "args-json" })
	rest := flags.Args()
	switch {
	case o.withArgs && !json.Valid([]byte(o.argsJSON)):
		return o, "the text of --args-json is not JSON, or nests too deep" // it may be too long to be repeated
	case o.policyFile == "":
		return o, "no policy: the verb runs under one alone"
	case len(rest) == 0:
		return o, "no program is named"
	}
	o.file, o.args = rest[0], rest[1:]
	if strings.HasPrefix(o.file, "-") {
		return o, "the program's name begins with a dash"
	}
	if len(o.args) > 0 && o.args[0] == "--" {
		o.args = slices.Clone(o.args[1:])
	}
	return o, ""
}

func readPolicy(path string) (p policy.Policy, digest, problem string) {
	raw, err := infile.Read(path, policy.MaxFile)
	if err != nil {
		return p, "", "the policy file cannot be read"
	}
	if p, err = policy.Parse(raw); err != nil {
		return p, "", fault.Public(err)
	}
	return p, policy.Digest(raw), ""
}
