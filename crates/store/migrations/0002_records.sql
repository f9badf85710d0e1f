-- Results of verbs that are no benchmark session: one document each, kept anew as it grows. The same rules as in
-- 0001: plain SQL for SQLite and PostgreSQL, keys and times as texts, JSON as text.

-- A record without an end is running, or its process died; its document is the last that was kept.
CREATE TABLE record (
    id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    specimen_id TEXT REFERENCES specimen (id),
    target TEXT NOT NULL,
    seed TEXT NOT NULL,
    condition TEXT NOT NULL,
    condition_origins TEXT NOT NULL,
    identity TEXT NOT NULL,
    host TEXT NOT NULL,
    tool_version TEXT NOT NULL,
    process TEXT NOT NULL,
    started_at TEXT NOT NULL,
    updated_at TEXT,
    ended_at TEXT,
    ended_how TEXT,
    document TEXT
);
CREATE INDEX record_by_start ON record (started_at);
CREATE INDEX record_by_specimen ON record (specimen_id);
