// Package attended holds the fence before new authority, and before an operator's
// word on an effect that nobody knows of: one human act at a controlling terminal
// (D10, D19).
//
// It promises that nothing is minted, and no repository touched, before a yes was
// typed at the terminal after the question was shown, that whatever was typed
// before the question does not count, and that the grants shown are the grants
// minted. It does not promise that a human typed it: a program that owns the
// other end of a terminal can type too. It keeps such programs out only as far
// as they may not run as the operator.
package attended
