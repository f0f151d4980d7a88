// Package record gives the byte forms of everything that World keeps as evidence.
//
// It promises that a value has one byte form, that decoding accepts exactly
// that form and only consistent values, and that the forms named in the seeds
// are byte for byte theirs. It reads and writes no store, and decides nothing.
package record

// Semantic ids label what an object is. Append only.
const (
	Input          = "world/invocation-input/v1"   // canonical JSON arguments
	Output         = "world/invocation-output/v1"  // canonical JSON result, also the state root
	Invocation     = "world/invocation-record/v3"  // InvocationRecord
	Plan           = "world/effect-plan/v1"        // canonical JSON plan
	Request        = "world/effect-request/v1"     // EffectRequest
	Effect         = "world/effect-record/v1"      // EffectRecord
	Result         = "world/effect-result/v1"      // raw handler output
	Failure        = "world/effect-failure/v1"     // scrubbed text of why an effect failed or is unknown
	Session        = "world/session/v1"            // SessionRecord
	Revocation     = "world/session-revocation/v1" // RevocationRecord
	Reconciliation = "world/reconciliation/v1"     // ReconciliationRecord
	Genesis        = "world/genesis/v1"            // GenesisRecord
	Registry       = "world/transition-registry/v1"
	Source         = "world/transition-source/v1" // source text of a transition
	Interpreter    = "world/interpreter/v1"       // bytes of an interpreter
	HostAct        = "world/host-act/v1"          // text that stands as transitionFn of host acts
	Commit         = "world/commit/v1"            // CommitRecord
	Notice         = "world/operator-notice/v1"   // NoticeRecord
	Ending         = "world/episode-end/v1"       // EndingRecord
)
