// Package transfer moves a whole world from one store to another, whichever
// engines keep them: every row, and with the objects the archive of interpreters.
//
// It promises that the source changes in nothing but its seal: it is held while
// rows travel, so that there is one last state to copy, and sealed when the copy
// is proved; that the copy takes no writer before that; and that a transfer which
// ends half way is finished by running it again. The proof is that fsck finds the
// copy clean, and that its head and every running total are the source's. Leases
// do not travel: what was open under them is indeterminate in the copy.
package transfer
