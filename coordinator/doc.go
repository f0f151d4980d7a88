// Package coordinator takes one call from its surface to its log entry.
//
// It promises: a transition that a session may not see answers like one that is
// absent; effects of one episode run one after another, each decided at a time
// taken after its turn came; every call that got as far as running leaves one log
// entry, whether it was answered, refused, denied, failed or cut short; from the
// moment an effect's intent is durable, nothing its caller does can lose it; an id
// given again returns the stored answer and runs nothing. Any error in deciding,
// planning, seeding, looking up or confining ends the call without its effect.
// It does not promise that two calls with different ids are not the same wish.
//
// Source: DESIGN "One call", D4, D8 to D12, D23; reference rules R1 to R17.
package coordinator
