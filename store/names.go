package store

import (
	"strconv"
	"strings"

	"world/fault"
)

// EpisodeID names a unit of work: its budget ledger and its worktree.
// ^[a-z0-9][a-z0-9-]{0,63}$
type EpisodeID string

// TransitionID names a transition in the registry: 1 to 128 bytes, segments of
// 1 to 32 bytes [a-z0-9_-] that begin and end with a letter or digit, split by
// '.' or '/'.
type TransitionID string

// InvocationID names one call for ever: SURFACE:EPISODE:TASK, or rest:TASK for a
// commit, at most 256 bytes. It is the idempotency key of D12.
type InvocationID string

// CredentialID is the sha256 of a credential's text as 64 lowercase hex digits
// (D19). It does not give the credential away.
type CredentialID string

// Surface names a door of the daemon, as entries and invocation ids show it.
type Surface string

const (
	SurfaceMCP  Surface = "mcp"
	SurfaceA2A  Surface = "a2a"
	SurfaceREST Surface = "rest"
)

// ParseEpisodeID checks the grammar of an episode name.
func ParseEpisodeID(s string) (EpisodeID, error) {
	if len(s) < 1 || len(s) > 64 || s[0] == '-' || !every(s, isEpisodeByte) {
		return "", fault.New("store: parse episode", fault.Invalid, "an episode matches ^[a-z0-9][a-z0-9-]{0,63}$")
	}
	return EpisodeID(s), nil
}

// endPrefix begins the name of each registry head of an ended episode.
const endPrefix = "world/end/"

// EndName is the registry head that is there from the end of an episode on.
func EndName(episode EpisodeID) string { return endPrefix + string(episode) }

// EndOf is the inverse of EndName; false for a head that ends no episode.
func EndOf(name string) (EpisodeID, bool) {
	episode, ok := strings.CutPrefix(name, endPrefix)
	return EpisodeID(episode), ok
}

// ParseCredentialID checks for 64 lowercase hex digits.
func ParseCredentialID(s string) (CredentialID, error) {
	if !lowerHex(s, 64) {
		return "", fault.New("store: parse credential id", fault.Invalid, "a credential id is 64 lowercase hex digits")
	}
	return CredentialID(s), nil
}

// ParseTransitionID checks the grammar of a transition id.
func ParseTransitionID(s string) (TransitionID, error) {
	bad := fault.New("store: parse transition id", fault.Invalid, "a transition id is 1 to 128 bytes of [a-z0-9_-] segments split by . or /")
	if len(s) < 1 || len(s) > 128 {
		return "", bad
	}
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '.' && s[i] != '/' {
			continue
		}
		if !isSegment(s[start:i]) {
			return "", bad
		}
		start = i + 1
	}
	return TransitionID(s), nil
}

// ParseTask checks a task id: 1 to 128 bytes of A-Z a-z 0-9 . _ -.
func ParseTask(s string) (string, error) {
	if len(s) < 1 || len(s) > 128 || !every(s, isTaskByte) {
		return "", fault.New("store: parse task id", fault.Invalid, "a task id is 1 to 128 bytes of A-Z a-z 0-9 . _ -")
	}
	return s, nil
}

// NewInvocationID joins the parts of an invocation id; task must have passed ParseTask.
func NewInvocationID(surface Surface, episode EpisodeID, task string) InvocationID {
	return InvocationID(string(surface) + ":" + string(episode) + ":" + task)
}

// CommitInvocation is the id of a commit, as clients write it; it names no episode.
// task must have passed ParseTask.
func CommitInvocation(task string) InvocationID {
	return InvocationID(string(SurfaceREST) + ":" + task)
}

// IntentName is the durable name of an effect intent, "effect:EPISODE:ORDINAL".
func IntentName(episode EpisodeID, ordinal int64) string {
	return "effect:" + string(episode) + ":" + strconv.FormatInt(ordinal, 10)
}

// ParseIntentName is the inverse of IntentName.
func ParseIntentName(name string) (EpisodeID, int64, error) {
	bad := fault.New("store: parse intent name", fault.Invalid, "an intent's name is effect:EPISODE:ORDINAL")
	parts := strings.Split(name, ":")
	if len(parts) != 3 {
		return "", 0, bad
	}
	episode, err := ParseEpisodeID(parts[1])
	if err != nil {
		return "", 0, bad
	}
	ordinal, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || ordinal < 0 || IntentName(episode, ordinal) != name {
		return "", 0, bad
	}
	return episode, ordinal, nil
}

func isSegment(s string) bool {
	return len(s) >= 1 && len(s) <= 32 && isAlnum(s[0]) && isAlnum(s[len(s)-1]) &&
		every(s, func(c byte) bool { return isAlnum(c) || c == '_' || c == '-' })
}

func isAlnum(c byte) bool       { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
func isEpisodeByte(c byte) bool { return isAlnum(c) || c == '-' }
func isTaskByte(c byte) bool {
	return isAlnum(c) || c >= 'A' && c <= 'Z' || c == '.' || c == '_' || c == '-'
}

func every(s string, ok func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}

// HomeID names a daemon by its state directory: the owner of a lease, and the
// home of an episode with a worktree (D13). 1 to 64 bytes of A-Z a-z 0-9 . _ -.
type HomeID string

// ParseHomeID checks a daemon's name.
func ParseHomeID(s string) (HomeID, error) {
	if _, err := ParseTask(s); err != nil || len(s) > 64 {
		return "", fault.New("store: parse home", fault.Invalid, "a daemon's name is 1 to 64 bytes of A-Z a-z 0-9 . _ -")
	}
	return HomeID(s), nil
}
