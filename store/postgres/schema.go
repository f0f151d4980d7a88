package postgres

// migrations lead from an empty database to the current schema, one version each
// (D15). Append only: a released migration is never edited.
//
// Constraints make the invariants impossible to break, whoever writes: a claim is
// its invocation id, an intent's row has room for one outcome and a call for one
// entry, spend stays within the largest budget it was ever guarded by, and each
// entry but that of index 0 names the entry before it by index and hash. What
// digests and fsck find as well is no constraint: the server reads the text of
// each CHECK anew for every statement, and asks for each row that another names.
// Texts compare by bytes.
var migrations = []string{`
CREATE SCHEMA world;
CREATE TABLE world.meta (
  key    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  value  TEXT COLLATE "C" NOT NULL,
  digest BYTEA NOT NULL
);
CREATE TABLE world.objects (
  hash        BYTEA NOT NULL PRIMARY KEY,
  semantic_id TEXT COLLATE "C" NOT NULL,
  provenance  TEXT COLLATE "C" NOT NULL,
  digest      BYTEA NOT NULL,
  bytes       BYTEA NOT NULL
);
CREATE TABLE world.labels (
  hash        BYTEA NOT NULL REFERENCES world.objects (hash),
  semantic_id TEXT COLLATE "C" NOT NULL,
  provenance  TEXT COLLATE "C" NOT NULL,
  digest      BYTEA NOT NULL,
  PRIMARY KEY (hash, semantic_id, provenance)
);
CREATE TABLE world.log (
  idx             BIGINT NOT NULL PRIMARY KEY,
  semantics_epoch BIGINT NOT NULL,
  transition_fn   BYTEA NOT NULL,
  interpreter     BYTEA NOT NULL,
  prev            BYTEA NOT NULL,
  written_by      TEXT COLLATE "C" NOT NULL,
  hash            BYTEA NOT NULL,
  transition_ref  BYTEA NOT NULL,
  state_root      BYTEA NOT NULL,
  world           BYTEA NOT NULL,
  invocation      TEXT COLLATE "C" NOT NULL,
  digest          BYTEA NOT NULL,
  prev_idx        BIGINT GENERATED ALWAYS AS (NULLIF(idx, 0) - 1) STORED,
  UNIQUE (idx, hash),
  FOREIGN KEY (prev_idx, prev) REFERENCES world.log (idx, hash)
);
CREATE INDEX log_transition ON world.log (transition_ref, idx);
CREATE UNIQUE INDEX log_invocation ON world.log (invocation) WHERE invocation <> '';
CREATE TABLE world.head (
  id         BIGINT NOT NULL PRIMARY KEY,
  idx        BIGINT NOT NULL,
  world      BYTEA NOT NULL,
  state_root BYTEA NOT NULL,
  entry      BYTEA NOT NULL,
  digest     BYTEA NOT NULL
);
CREATE TABLE world.clock (
  id     BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
  at     BIGINT NOT NULL CHECK (at >= 0),
  digest BYTEA NOT NULL
);
CREATE TABLE world.claims (
  invocation    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  episode       TEXT COLLATE "C" NOT NULL,
  transition    TEXT COLLATE "C" NOT NULL,
  transition_fn BYTEA NOT NULL,
  input         BYTEA NOT NULL,
  session       BYTEA NOT NULL,
  at            BIGINT NOT NULL,
  digest        BYTEA NOT NULL
);
CREATE TABLE world.intents (
  episode    TEXT COLLATE "C" NOT NULL,
  ordinal    BIGINT NOT NULL,
  invocation TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES world.claims (invocation),
  effect     TEXT COLLATE "C" NOT NULL,
  scope      TEXT COLLATE "C" NOT NULL,
  cost       BIGINT NOT NULL,
  request    BYTEA NOT NULL,
  at         BIGINT NOT NULL,
  epoch      BIGINT NOT NULL,
  status     TEXT COLLATE "C" NOT NULL,
  record     BYTEA NOT NULL,
  detail     BYTEA NOT NULL,
  outcome_at BIGINT NOT NULL,
  reconciled BYTEA NOT NULL,
  digest     BYTEA NOT NULL,
  PRIMARY KEY (episode, ordinal)
);
CREATE INDEX intents_open ON world.intents (at, episode, ordinal)
  WHERE status IN ('', 'indeterminate') AND reconciled = '';
CREATE TABLE world.spend (
  episode TEXT COLLATE "C" NOT NULL,
  effect  TEXT COLLATE "C" NOT NULL,
  scope   TEXT COLLATE "C" NOT NULL,
  total   BIGINT NOT NULL,
  ceiling BIGINT NOT NULL,
  digest  BYTEA NOT NULL,
  PRIMARY KEY (episode, effect, scope),
  CHECK (0 <= total AND total <= ceiling)
);
CREATE TABLE world.leases (
  episode TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  epoch   BIGINT NOT NULL CHECK (epoch > 0),
  owner   TEXT COLLATE "C" NOT NULL,
  until   BIGINT NOT NULL,
  free    BIGINT NOT NULL,
  wanted  TEXT COLLATE "C" NOT NULL,
  digest  BYTEA NOT NULL,
  CHECK (until <= free)
);
CREATE INDEX leases_owner ON world.leases (owner) WHERE owner <> '';
CREATE TABLE world.sessions (
  seq        BIGINT NOT NULL PRIMARY KEY CHECK (seq > 0),
  credential TEXT COLLATE "C" NOT NULL UNIQUE,
  object     BYTEA NOT NULL REFERENCES world.objects (hash),
  episode    TEXT COLLATE "C" NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revocation BYTEA NOT NULL,
  digest     BYTEA NOT NULL
);
CREATE TABLE world.registry (
  name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  object BYTEA NOT NULL REFERENCES world.objects (hash),
  digest BYTEA NOT NULL
);
`, `
ALTER TABLE world.intents DROP CONSTRAINT intents_invocation_fkey;
`}
