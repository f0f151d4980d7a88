package sqlite

// migrations lead from an empty file to the current schema, one version each
// (D15). Append only: a released migration is never edited, and the schema of a
// migrated file must equal that of a fresh one, which opening checks.
//
// Refs are kept as 32 bytes, "" as none. Every row but object bytes carries the
// digest of its columns. Small tables whose key is not an integer have no rowid;
// those that grow with each call do: rows of theirs are many times as large as a
// key, and lie one behind the other.
//
// An index whose keys come in no order costs a page of its own for each row, so
// there are two such indexes: on invocation ids, and on the start of an object's
// hash. What starts alike is told apart by a count (twin), which is 0 as long as
// nobody searches for such hashes. What else is looked up goes by the number that
// a row keeps, -1 for none: an object's first entry about it (about), a claim's
// intent (ordinal), the entry that ended a call (entry, on the intent or, for a
// call without one, on the claim), the last intent that a running total counts
// (ordinal). Each can be told from the rows it leads to.
//
// An intent lies with the unsettled ones, which are few, until nothing about it is
// open any more. No table refers to another by a constraint, which would look up
// again what the statements before have looked up; the audit follows each reference.
var migrations = []string{`
CREATE TABLE objects (
  seq         INTEGER PRIMARY KEY,
  hash        BLOB NOT NULL UNIQUE,
  semantic_id TEXT NOT NULL,
  provenance  TEXT NOT NULL,
  digest      BLOB NOT NULL,
  about       INTEGER NOT NULL,
  bytes       BLOB NOT NULL
) STRICT;
CREATE TABLE labels (
  hash        BLOB NOT NULL REFERENCES objects (hash),
  semantic_id TEXT NOT NULL,
  provenance  TEXT NOT NULL,
  digest      BLOB NOT NULL,
  PRIMARY KEY (hash, semantic_id, provenance)
) STRICT, WITHOUT ROWID;
CREATE TABLE log (
  idx             INTEGER PRIMARY KEY,
  semantics_epoch INTEGER NOT NULL,
  transition_fn   BLOB NOT NULL,
  interpreter     BLOB NOT NULL,
  prev            BLOB NOT NULL,
  written_by      TEXT NOT NULL,
  hash            BLOB NOT NULL,
  transition_ref  BLOB NOT NULL,
  state_root      BLOB NOT NULL,
  world           BLOB NOT NULL,
  invocation      TEXT NOT NULL,
  digest          BLOB NOT NULL
) STRICT;
CREATE TABLE head (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  idx        INTEGER NOT NULL,
  world      BLOB NOT NULL,
  state_root BLOB NOT NULL,
  entry      BLOB NOT NULL,
  digest     BLOB NOT NULL
) STRICT;
CREATE TABLE clock (
  id     INTEGER PRIMARY KEY CHECK (id = 1),
  at     INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;
CREATE TABLE claims (
  invocation    TEXT NOT NULL PRIMARY KEY,
  episode       TEXT NOT NULL,
  transition    TEXT NOT NULL,
  transition_fn BLOB NOT NULL,
  input         BLOB NOT NULL,
  session       BLOB NOT NULL,
  at            INTEGER NOT NULL,
  digest        BLOB NOT NULL,
  ordinal       INTEGER NOT NULL,
  entry         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE intents (
  episode    TEXT NOT NULL,
  ordinal    INTEGER NOT NULL,
  invocation TEXT NOT NULL REFERENCES claims (invocation),
  effect     TEXT NOT NULL,
  scope      TEXT NOT NULL,
  cost       INTEGER NOT NULL CHECK (cost >= 0),
  request    BLOB NOT NULL,
  at         INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  status     TEXT NOT NULL,
  record     BLOB NOT NULL,
  detail     BLOB NOT NULL,
  outcome_at INTEGER NOT NULL,
  reconciled BLOB NOT NULL,
  digest     BLOB NOT NULL,
  entry      INTEGER NOT NULL,
  PRIMARY KEY (episode, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX intents_open ON intents (at, episode, ordinal)
  WHERE status IN ('', 'indeterminate') AND reconciled = x'';
CREATE TABLE spend (
  episode TEXT NOT NULL,
  effect  TEXT NOT NULL,
  scope   TEXT NOT NULL,
  total   INTEGER NOT NULL CHECK (total >= 0),
  digest  BLOB NOT NULL,
  ordinal INTEGER NOT NULL,
  PRIMARY KEY (episode, effect, scope)
) STRICT, WITHOUT ROWID;
CREATE TABLE leases (
  episode TEXT NOT NULL PRIMARY KEY,
  epoch   INTEGER NOT NULL,
  digest  BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
  seq        INTEGER PRIMARY KEY,
  credential TEXT NOT NULL UNIQUE,
  object     BLOB NOT NULL REFERENCES objects (hash),
  episode    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revocation BLOB NOT NULL,
  digest     BLOB NOT NULL
) STRICT;
CREATE TABLE registry (
  name   TEXT NOT NULL PRIMARY KEY,
  object BLOB NOT NULL REFERENCES objects (hash),
  digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
  key    TEXT NOT NULL PRIMARY KEY,
  value  TEXT NOT NULL,
  digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;
`, `
CREATE TABLE labels_2 (
  hash        BLOB NOT NULL,
  semantic_id TEXT NOT NULL,
  provenance  TEXT NOT NULL,
  digest      BLOB NOT NULL,
  PRIMARY KEY (hash, semantic_id, provenance)
) STRICT, WITHOUT ROWID;
INSERT INTO labels_2 SELECT * FROM labels;
DROP TABLE labels;
ALTER TABLE labels_2 RENAME TO labels;
CREATE TABLE sessions_2 (
  seq        INTEGER PRIMARY KEY,
  credential TEXT NOT NULL UNIQUE,
  object     BLOB NOT NULL,
  episode    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revocation BLOB NOT NULL,
  digest     BLOB NOT NULL
) STRICT;
INSERT INTO sessions_2 SELECT * FROM sessions;
DROP TABLE sessions;
ALTER TABLE sessions_2 RENAME TO sessions;
CREATE TABLE registry_2 (
  name   TEXT NOT NULL PRIMARY KEY,
  object BLOB NOT NULL,
  digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO registry_2 SELECT * FROM registry;
DROP TABLE registry;
ALTER TABLE registry_2 RENAME TO registry;
CREATE TABLE objects_2 (
  seq         INTEGER PRIMARY KEY,
  hash        BLOB NOT NULL,
  semantic_id TEXT NOT NULL,
  provenance  TEXT NOT NULL,
  digest      BLOB NOT NULL,
  about       INTEGER NOT NULL,
  twin        INTEGER NOT NULL,
  bytes       BLOB NOT NULL
) STRICT;
INSERT INTO objects_2 SELECT seq, hash, semantic_id, provenance, digest, about,
  row_number() OVER (PARTITION BY substr(hash, 1, 8) ORDER BY seq) - 1, bytes FROM objects ORDER BY seq;
DROP TABLE objects;
ALTER TABLE objects_2 RENAME TO objects;
CREATE UNIQUE INDEX objects_hash ON objects (substr(hash, 1, 8), twin);
CREATE TABLE unsettled (
  episode    TEXT NOT NULL,
  ordinal    INTEGER NOT NULL,
  invocation TEXT NOT NULL,
  effect     TEXT NOT NULL,
  scope      TEXT NOT NULL,
  cost       INTEGER NOT NULL CHECK (cost >= 0),
  request    BLOB NOT NULL,
  at         INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('', 'indeterminate')),
  record     BLOB NOT NULL,
  detail     BLOB NOT NULL,
  outcome_at INTEGER NOT NULL,
  reconciled BLOB NOT NULL CHECK (reconciled = x''),
  digest     BLOB NOT NULL,
  entry      INTEGER NOT NULL,
  PRIMARY KEY (episode, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO unsettled SELECT * FROM intents WHERE status IN ('', 'indeterminate') AND reconciled = x'';
CREATE TABLE intents_2 (
  episode    TEXT NOT NULL,
  ordinal    INTEGER NOT NULL,
  invocation TEXT NOT NULL,
  effect     TEXT NOT NULL,
  scope      TEXT NOT NULL,
  cost       INTEGER NOT NULL CHECK (cost >= 0),
  request    BLOB NOT NULL,
  at         INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  status     TEXT NOT NULL,
  record     BLOB NOT NULL,
  detail     BLOB NOT NULL,
  outcome_at INTEGER NOT NULL,
  reconciled BLOB NOT NULL,
  digest     BLOB NOT NULL,
  entry      INTEGER NOT NULL,
  PRIMARY KEY (episode, ordinal)
) STRICT;
INSERT INTO intents_2 SELECT * FROM intents WHERE NOT (status IN ('', 'indeterminate') AND reconciled = x'');
DROP TABLE intents;
ALTER TABLE intents_2 RENAME TO intents;
CREATE TABLE claims_2 (
  invocation    TEXT NOT NULL PRIMARY KEY,
  episode       TEXT NOT NULL,
  transition    TEXT NOT NULL,
  transition_fn BLOB NOT NULL,
  input         BLOB NOT NULL,
  session       BLOB NOT NULL,
  at            INTEGER NOT NULL,
  digest        BLOB NOT NULL,
  ordinal       INTEGER NOT NULL,
  entry         INTEGER NOT NULL
) STRICT;
INSERT INTO claims_2 SELECT * FROM claims;
DROP TABLE claims;
ALTER TABLE claims_2 RENAME TO claims;
`}

// applicationID marks a file as ours: "WRLD".
const applicationID = 0x57524c44
