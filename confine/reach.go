package confine

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reach is what the attacks at start showed: the highest level at which none of
// them got through, and why the levels above it were passed over.
type Reach struct {
	Level   Level
	Elapsed time.Duration
	passed  []Finding
	overlay string // why programs get no private layer over a worktree; "" when they do
}

// Finding is one thing that a machine was tried for.
type Finding struct {
	What   string
	Held   bool
	Detail string // what proved it, or what was there instead
	Remedy string // how to get it; "" when it is there
}

// Use is something that runs in the jail, and what it needs there.
type Use struct {
	Name  string
	Floor Level
	Layer bool // a private layer over the worktree
}

// Meets reports whether a use is admitted.
func (r Reach) Meets(u Use) bool {
	return r.Level >= u.Floor && (!u.Layer || r.Level == Namespaces && r.overlay == "")
}

// String is one line for a log.
func (r Reach) String() string {
	text := fmt.Sprintf("%s (denied a write, a connect and a fork in %s)", r.Level, r.Elapsed.Round(time.Millisecond))
	if r.Level == Process {
		text = "process (nothing is denied)"
	}
	for _, f := range r.Findings() {
		if !f.Held {
			text += "; no " + f.What + ": " + f.Detail
		}
	}
	return text
}

// Findings returns what was tried, and of what is missing how to get it.
func (r Reach) Findings() []Finding {
	var all []Finding
	if r.Level > Process {
		all = append(all, Finding{What: "level " + r.Level.String(), Held: true,
			Detail: "a program that tried was denied a write outside, a connect and a fork"})
	}
	all = append(all, r.passed...)
	if r.Level == Namespaces {
		layer := Finding{What: "private layer", Held: r.overlay == "", Detail: "a program's write over it did not reach the worktree"}
		if !layer.Held {
			layer.Detail, layer.Remedy = r.overlay, "programs need Linux 5.11 or newer with overlayfs (modprobe overlay)"
		}
		all = append(all, layer)
	}
	memory := Finding{What: "bound on all memory together", Held: r.Level == Namespaces,
		Detail: "a program's first process adds up what all of them hold, 50 times a second; private, writable memory of each process is bounded by the kernel, and there is no other anonymous memory"}
	if !memory.Held {
		memory.Detail, memory.Remedy = "private, writable memory of each process is bounded, and nobody adds up what all of them hold", "level namespaces"
	}
	return append(all, memory)
}

var errNoBubblewrap = errors.New("bubblewrap is not installed")

// missed tells why a level was passed over.
func (j *Jail) missed(level Level, got attack, err error) Finding {
	f := Finding{What: "level " + level.String(), Detail: fmt.Sprintf("got through %+v", got)}
	if err != nil {
		f.Detail = causeOf(err)
	}
	switch {
	case level == Landlock:
		f.Remedy = "Linux 6.2 or newer with landlock among its security modules (lsm= on the kernel's command line)"
	case errors.Is(err, errNoBubblewrap):
		f.Remedy = "install bubblewrap (Debian: apt-get install bubblewrap)"
	case errors.As(err, new(silent)):
		f.Remedy = "install bubblewrap anew: the one that is there does not work (Debian: apt-get install --reinstall bubblewrap)"
	default:
		f.Remedy = "let bubblewrap make namespaces: sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1 and " +
			"kernel.apparmor_restrict_unprivileged_userns=0 where they exist; start a container with a profile that admits unshare and mount"
	}
	return f
}

// causeOf is the text beneath a fault, for an operator.
func causeOf(err error) string {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return strings.TrimSpace(err.Error())
}
