// Package replay checks recorded calls by making them again from evidence (D11).
//
// It promises: no handler is called and nothing is written; plan and finish run
// again in the archived interpreter; the decision is made again by the law, from
// the session object, the intents below the recorded ordinal and the recorded
// time, never from the record under check; requests, records, plan, output and
// the invocation record are compared byte for byte; and the first divergence ends
// the replay of a call and is named. What cannot be replayed is told apart from
// what diverges, with a reason from a closed list. It does not promise that the
// outside world did what a result says.
package replay
