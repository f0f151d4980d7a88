package sqlite

// astray finds, each by some ten lines at most, rows that name or keep the number of
// another row that is missing or is not the one that they belong to. What leads from
// a row to an entry is followed from the rows, in the order in which they lie; only
// entries to which no row leads are looked up by what they name. That the row which
// leads is the right one is for its own query to say.
var astray = []string{
	`SELECT format('a row of labels names a missing row of objects, %s', lower(hex(l.hash))) FROM labels l
		WHERE ` + missing("l.hash") + ` LIMIT 10`,
	`SELECT format('session %d names a missing row of objects, %s', s.seq, lower(hex(s.object))) FROM sessions s
		WHERE ` + missing("s.object") + ` LIMIT 10`,
	`SELECT format('registry "%w" names a missing row of objects, %s', r.name, lower(hex(r.object))) FROM registry r
		WHERE ` + missing("r.object") + ` LIMIT 10`,
	`SELECT format('object %s is stored twice', lower(hex(o.hash))) FROM objects o INDEXED BY objects_hash
		WHERE o.twin <> 0 AND (SELECT count(*) FROM objects t WHERE substr(t.hash, 1, 8) = substr(o.hash, 1, 8) AND t.hash = o.hash) <> 1 LIMIT 10`,
	`SELECT format('object %s is not the twin of another', lower(hex(o.hash))) FROM objects o INDEXED BY objects_hash
		WHERE o.twin <> 0 AND NOT EXISTS (SELECT 1 FROM objects t WHERE substr(t.hash, 1, 8) = substr(o.hash, 1, 8) AND t.twin = o.twin - 1) LIMIT 10`,
	`SELECT format('intent "effect:%w:%d" is settled and unsettled', u.episode, u.ordinal) FROM unsettled u
		JOIN intents i ON i.episode = u.episode AND i.ordinal = u.ordinal LIMIT 10`,
	`SELECT format('claim "%w" does not lead to its intent', i.invocation) FROM (` + everyIntent + `) i
		LEFT JOIN claims c ON c.invocation = i.invocation
		WHERE c.ordinal IS NOT i.ordinal OR c.episode <> i.episode LIMIT 10`,
	`SELECT format('claim "%w" leads to the intent of another call', c.invocation) FROM claims c
		LEFT JOIN intents i ON i.episode = c.episode AND i.ordinal = c.ordinal
		LEFT JOIN unsettled u ON u.episode = c.episode AND u.ordinal = c.ordinal
		WHERE c.ordinal <> -1 AND coalesce(i.invocation, u.invocation) IS NOT c.invocation LIMIT 10`,
	`SELECT format('claim "%w" does not lead to its entry, log %d', l.invocation, l.idx)
		FROM (SELECT idx FROM log WHERE invocation <> '' EXCEPT SELECT entry FROM claims WHERE ordinal = -1 AND entry <> -1
			EXCEPT SELECT entry FROM intents EXCEPT SELECT entry FROM unsettled) rest
		CROSS JOIN log l ON l.idx = rest.idx
		LEFT JOIN claims c ON c.invocation = l.invocation
		LEFT JOIN intents i ON i.episode = c.episode AND i.ordinal = c.ordinal
		LEFT JOIN unsettled u ON u.episode = c.episode AND u.ordinal = c.ordinal
		WHERE coalesce(i.entry, u.entry, c.entry) IS NOT l.idx LIMIT 10`,
	`SELECT format('claim "%w" leads to the entry of another call', c.invocation) FROM claims c
		LEFT JOIN log l ON l.idx = c.entry
		WHERE c.entry <> -1 AND l.invocation IS NOT c.invocation LIMIT 10`,
	`SELECT format('intent "effect:%w:%d" leads to the entry of another call', i.episode, i.ordinal) FROM (` + everyIntent + `) i
		LEFT JOIN log l ON l.idx = i.entry
		WHERE i.entry <> -1 AND l.invocation IS NOT i.invocation LIMIT 10`,
	`SELECT format('spend "%w" "%w" "%w" does not lead to its last intent', s.episode, s.effect, s.scope) FROM spend s
		WHERE s.ordinal IS NOT nullif(max(coalesce(` + lastOf("intents") + `, -1), coalesce(` + lastOf("unsettled") + `, -1)), -1) LIMIT 10`,
	`SELECT format('object %s is not known as what log %d is about', lower(hex(l.transition_ref)), l.idx)
		FROM (SELECT idx FROM log WHERE idx > 0 EXCEPT SELECT about FROM objects WHERE about > 0) rest
		CROSS JOIN log l ON l.idx = rest.idx
		LEFT JOIN objects o ON substr(o.hash, 1, 8) = substr(l.transition_ref, 1, 8) AND o.hash = l.transition_ref
		WHERE (o.about BETWEEN 0 AND l.idx) IS NOT 1 LIMIT 10`,
	`SELECT format('object %s is known for log %d, which is about another', lower(hex(o.hash)), o.about) FROM objects o
		LEFT JOIN log l ON l.idx = o.about
		WHERE o.about <> -1 AND l.transition_ref IS NOT o.hash LIMIT 10`,
}

// lastOf is the last intent in a table that the running total s counts, NULL for none.
func lastOf(table string) string {
	return "(SELECT i.ordinal FROM " + table + " i WHERE i.episode = s.episode AND i.effect = s.effect AND i.scope = s.scope ORDER BY i.ordinal DESC LIMIT 1)"
}

// everyIntent are the columns by which intents are found from elsewhere.
const everyIntent = `SELECT episode, ordinal, invocation, entry FROM intents
	UNION ALL SELECT episode, ordinal, invocation, entry FROM unsettled`

// missing is the condition that no object has a hash.
func missing(hash string) string {
	return "NOT EXISTS (SELECT 1 FROM objects o WHERE substr(o.hash, 1, 8) = substr(" + hash + ", 1, 8) AND o.hash = " + hash + ")"
}
