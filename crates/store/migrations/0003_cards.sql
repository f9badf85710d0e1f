-- Cards as people know them, what happened to them, logs of other tools, and figures in one shape for all runs. The
-- same rules as in 0001. Facts, figures and settings of what was there before are filled in by the program
-- (src/upgrade.rs) in the same transaction.

-- A card may be known by the name on it alone: its model need not be known.
ALTER TABLE card ADD COLUMN product TEXT;
UPDATE card SET product = model;
ALTER TABLE card DROP COLUMN model;
ALTER TABLE card RENAME COLUMN product TO model;
-- All that is known, as JSON; the columns beside it are for those who look into the tables.
ALTER TABLE card ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
ALTER TABLE card ADD COLUMN title TEXT NOT NULL DEFAULT '';
-- False where nothing but the place it was found in names it.
ALTER TABLE card ADD COLUMN named BOOLEAN NOT NULL DEFAULT TRUE;
ALTER TABLE card ADD COLUMN brand TEXT;
ALTER TABLE card ADD COLUMN name TEXT;
-- Counted anew with the summaries.
ALTER TABLE card ADD COLUMN specimens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE card ADD COLUMN sessions BIGINT NOT NULL DEFAULT 0;
ALTER TABLE card ADD COLUMN runs BIGINT NOT NULL DEFAULT 0;
ALTER TABLE card ADD COLUMN first_measured TEXT;
ALTER TABLE card ADD COLUMN last_measured TEXT;

-- The ways in which a card was named. `fingerprint` is the hash of all that names it, so that the same facts lead to
-- the same card as before, also after merging; the other two find cards that are named alike. They are hashes, too: a
-- name may be longer than the 2.7 kB that PostgreSQL has room for in a row of an index.
CREATE TABLE known_as (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    card_id TEXT NOT NULL REFERENCES card (id),
    label TEXT,
    registers TEXT
);
CREATE INDEX known_as_by_card ON known_as (card_id);
CREATE INDEX known_as_by_label ON known_as (label);
CREATE INDEX known_as_by_registers ON known_as (registers);

-- What a piece says of itself stays with it, whatever becomes of its card.
ALTER TABLE specimen ADD COLUMN maker TEXT;
ALTER TABLE specimen ADD COLUMN model TEXT;
ALTER TABLE specimen ADD COLUMN capacity_bytes BIGINT;
ALTER TABLE specimen ADD COLUMN facts TEXT NOT NULL DEFAULT '{}';
UPDATE specimen SET
    maker = (SELECT card.maker FROM card WHERE card.id = specimen.card_id),
    model = (SELECT card.model FROM card WHERE card.id = specimen.card_id),
    capacity_bytes = (SELECT card.capacity_bytes FROM card WHERE card.id = specimen.card_id);
CREATE INDEX specimen_by_card ON specimen (card_id);

-- Bought, in use, failed … `hash` keeps the same event from being noted twice.
CREATE TABLE event (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    card_id TEXT NOT NULL REFERENCES card (id),
    specimen_id TEXT REFERENCES specimen (id),
    date TEXT,
    kind TEXT NOT NULL,
    event TEXT NOT NULL
);
CREATE INDEX event_by_card ON event (card_id);

-- Photographs, receipts … `hash` is BLAKE3 of the bytes.
CREATE TABLE attachment (
    hash TEXT NOT NULL PRIMARY KEY,
    content BYTEA NOT NULL
);
CREATE TABLE attached (
    id TEXT NOT NULL PRIMARY KEY,
    hash TEXT NOT NULL REFERENCES attachment (hash),
    card_id TEXT REFERENCES card (id),
    specimen_id TEXT REFERENCES specimen (id),
    session_id TEXT REFERENCES session (id),
    name TEXT NOT NULL,
    media_type TEXT NOT NULL,
    note TEXT,
    content_bytes BIGINT NOT NULL,
    added_at TEXT NOT NULL
);
CREATE INDEX attached_by_hash ON attached (hash);
CREATE INDEX attached_by_card ON attached (card_id);
CREATE INDEX attached_by_specimen ON attached (specimen_id);
CREATE INDEX attached_by_session ON attached (session_id);

-- A file whose logs were taken in. `hash` is BLAKE3 of its bytes.
CREATE TABLE source (
    hash TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    format TEXT NOT NULL,
    content_bytes BIGINT NOT NULL,
    content BYTEA NOT NULL,
    imported_at TEXT NOT NULL
);

-- Everything between the card and the figures that is no card: the words of a condition that say it.
CREATE TABLE rig (
    hash TEXT NOT NULL PRIMARY KEY,
    host TEXT,
    reader TEXT,
    bus_mode TEXT,
    words TEXT NOT NULL
);

-- How something was measured, as far as it decides what may be compared.
CREATE TABLE setting (
    hash TEXT NOT NULL PRIMARY KEY,
    recipe TEXT NOT NULL,
    size_bytes BIGINT,
    condition TEXT NOT NULL
);

-- `kind` is `bench` for what was measured here, `import` for a log; `log` is then the log without its runs, and
-- `content_hash` the hash by which the same log is known again in another file.
ALTER TABLE session ADD COLUMN kind TEXT NOT NULL DEFAULT 'bench';
ALTER TABLE session ADD COLUMN card_id TEXT REFERENCES card (id);
ALTER TABLE session ADD COLUMN rig_hash TEXT REFERENCES rig (hash);
ALTER TABLE session ADD COLUMN source_hash TEXT REFERENCES source (hash);
ALTER TABLE session ADD COLUMN content_hash TEXT;
ALTER TABLE session ADD COLUMN log TEXT;
-- When it was measured, where that is known.
ALTER TABLE session ADD COLUMN measured_at TEXT;
UPDATE session SET measured_at = started_at,
    card_id = (SELECT specimen.card_id FROM specimen WHERE specimen.id = session.specimen_id);
CREATE INDEX session_by_card ON session (card_id);
CREATE INDEX session_by_source ON session (source_hash);
CREATE INDEX session_by_content ON session (content_hash);

ALTER TABLE record ADD COLUMN card_id TEXT REFERENCES card (id);
UPDATE record SET card_id = (SELECT specimen.card_id FROM specimen WHERE specimen.id = record.specimen_id);
CREATE INDEX record_by_card ON record (card_id);

-- `figures`: one for each test, in one shape whoever measured; none while the run is under way.
ALTER TABLE run ADD COLUMN setting_hash TEXT REFERENCES setting (hash);
ALTER TABLE run ADD COLUMN size_bytes BIGINT;
ALTER TABLE run ADD COLUMN loops BIGINT;
ALTER TABLE run ADD COLUMN figures TEXT;

-- The tests of one card under one setting over its counted runs, in MB/s: JSON, all tests in one row, because who ranks
-- thousands of cards reads all of them (src/summary).
CREATE TABLE summary (
    card_id TEXT NOT NULL REFERENCES card (id),
    setting_hash TEXT NOT NULL REFERENCES setting (hash),
    tests TEXT NOT NULL,
    PRIMARY KEY (card_id, setting_hash)
);

-- Cards whose summaries and counts are older than their runs.
CREATE TABLE stale (
    card_id TEXT NOT NULL PRIMARY KEY REFERENCES card (id)
);
INSERT INTO stale (card_id) SELECT id FROM card;
