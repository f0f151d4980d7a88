package confine

// WithoutOuter makes the jail behave as where only bubblewrap may make namespaces.
func (j *Jail) WithoutOuter() *Jail {
	without := *j
	without.outer = false
	return &without
}
