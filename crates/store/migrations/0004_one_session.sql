-- What was a record is a session of its kind: one table for every use of a verb, with a document where there is one. The
-- same rules as in 0001.

-- The method of a session that has none; nothing but its name would tell it.
INSERT INTO recipe (hash, name, version, text) VALUES ('', '', '', '');

-- The report of a benchmark, or the document of another verb.
ALTER TABLE session RENAME COLUMN report TO document;
-- When that document was last kept; only other verbs keep theirs while it grows.
ALTER TABLE session ADD COLUMN updated_at TEXT;

INSERT INTO session (id, kind, card_id, specimen_id, target, recipe_hash, seed, condition, condition_origins, io_path,
    identity, host, tool_version, process, started_at, updated_at, ended_at, ended_how, document)
SELECT id, kind, card_id, specimen_id, target, '', seed, condition, condition_origins, '',
    identity, host, tool_version, process, started_at, updated_at, ended_at, ended_how, document FROM record;
DROP TABLE record;
