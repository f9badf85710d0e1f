-- The archive's first shape. Plain SQL that SQLite and PostgreSQL both take: keys are texts made by the client
-- (UUID v7, hashes), no sequences, no triggers; times are UTC texts of fixed length, so they sort as they are;
-- 64-bit seeds are texts because no signed integer holds them; JSON is text because both read it as such.

-- A published method, as it stood when it was run.
CREATE TABLE recipe (
    hash TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    text TEXT NOT NULL
);

-- A model of card, as one buys it. Its id is the hash of maker, model and capacity.
CREATE TABLE card (
    id TEXT NOT NULL PRIMARY KEY,
    maker TEXT,
    model TEXT NOT NULL,
    capacity_bytes BIGINT,
    first_seen TEXT NOT NULL
);

-- One piece of a model. Its id is the hash of everything that tells it from others.
CREATE TABLE specimen (
    id TEXT NOT NULL PRIMARY KEY,
    card_id TEXT NOT NULL REFERENCES card (id),
    serial TEXT,
    first_seen TEXT NOT NULL
);

-- Several runs under one condition. A session without an end is running, or its process died.
CREATE TABLE session (
    id TEXT NOT NULL PRIMARY KEY,
    specimen_id TEXT REFERENCES specimen (id),
    target TEXT NOT NULL,
    recipe_hash TEXT NOT NULL REFERENCES recipe (hash),
    seed TEXT NOT NULL,
    condition TEXT NOT NULL,
    condition_origins TEXT NOT NULL,
    io_path TEXT NOT NULL,
    bus_ceiling_mb_s DOUBLE PRECISION,
    identity TEXT NOT NULL,
    host TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    process TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    ended_how TEXT,
    report TEXT
);
CREATE INDEX session_by_start ON session (started_at);
CREATE INDEX session_by_specimen ON session (specimen_id);

-- One pass of the recipe. `results` comes when it is complete.
CREATE TABLE run (
    session_id TEXT NOT NULL REFERENCES session (id),
    number BIGINT NOT NULL,
    seed TEXT NOT NULL,
    counted BOOLEAN NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    results TEXT,
    PRIMARY KEY (session_id, number)
);

-- One loop of one test, raw.
CREATE TABLE sample (
    session_id TEXT NOT NULL,
    run_number BIGINT NOT NULL,
    place BIGINT NOT NULL,
    test_key TEXT NOT NULL,
    test TEXT NOT NULL,
    op TEXT NOT NULL,
    step TEXT,
    loop_index BIGINT NOT NULL,
    counted BOOLEAN NOT NULL,
    bytes BIGINT NOT NULL,
    ios BIGINT NOT NULL,
    nanos BIGINT NOT NULL,
    histogram TEXT NOT NULL,
    series TEXT NOT NULL,
    start_c DOUBLE PRECISION,
    end_c DOUBLE PRECISION,
    max_c DOUBLE PRECISION,
    caveats TEXT NOT NULL,
    PRIMARY KEY (session_id, run_number, place),
    FOREIGN KEY (session_id, run_number) REFERENCES run (session_id, number)
);

-- What was concluded from a session.
CREATE TABLE finding (
    session_id TEXT NOT NULL REFERENCES session (id),
    place BIGINT NOT NULL,
    claim TEXT NOT NULL,
    verdict TEXT NOT NULL,
    weight TEXT NOT NULL,
    confidence DOUBLE PRECISION NOT NULL,
    evidence TEXT NOT NULL,
    advice TEXT,
    PRIMARY KEY (session_id, place)
);
