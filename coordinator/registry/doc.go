// Package registry builds and reads the transition registry, and writes what the
// host does: genesis, newer revisions, and the drafts of host acts.
//
// It promises that a revision read from the store was re-hashed and decoded
// exactly, that an empty store gets its genesis, sources, interpreter and first
// revision in one act or not at all (D30), and that a registry which exists changes
// by Publish and Upgrade alone. It decides nothing about visibility; the
// coordinator asks the law.
package registry
