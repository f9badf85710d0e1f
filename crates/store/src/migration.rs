//! Schema migrations: all or none, by one process at a time, from the same files for both databases.
//!
//! Applied versions are in sqlx's table `_sqlx_migrations`, since older archives have it.

use crate::connection::{Connection, SqlResult, SqlRow, dynamic_statement, statement};
use crate::error::{ArchiveError, Result};
use crate::figure_json;
use crate::naming::{self, CardNames};
use crate::resolver::{CardResolver, update_card, write_names};
use crate::shared_settings::SharedSettings;
use cardscope_model::card::CardFacts;
use cardscope_model::result::RunResult;
use cardscope_model::run::Run;
use cardscope_model::setting::Setting;
use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType};
use std::cmp::Ordering;
use std::path::Path;
use std::sync::LazyLock;

/// Migrations in order: number, description, statements. sqlx's macro that lists the folder would build sqlx and both
/// database clients a second time.
static MIGRATIONS: LazyLock<Vec<Migration>> = LazyLock::new(|| {
    let step = |number, description: &'static str, sql: &'static str| {
        Migration::new(number, description.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    vec![
        step(1, "sessions", include_str!("../migrations/0001_sessions.sql")),
        step(2, "records", include_str!("../migrations/0002_records.sql")),
        step(3, "cards", include_str!("../migrations/0003_cards.sql")),
        step(4, "one session", include_str!("../migrations/0004_one_session.sql")),
    ]
});

const CREATE_MIGRATION_TABLE: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (version BIGINT NOT NULL PRIMARY KEY, \
    description TEXT NOT NULL, installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, \
    checksum BYTEA NOT NULL, execution_time BIGINT NOT NULL)";

const INSERT_MIGRATION: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
    VALUES ($1, $2, TRUE, $3, 0)";

pub(crate) fn newest_version() -> i64 {
    MIGRATIONS.iter().map(|m| m.version).max().unwrap_or(0)
}

enum SchemaState {
    Ready,
    /// Empty or of an older version; the version found.
    Older(i64),
    Newer(i64),
    /// Database of another program; its description.
    Foreign(String),
}

/// Upgrades an older database; refuses a newer or foreign one without changes.
///
/// A database that is not current is examined again under the writers' lock, in the upgrading transaction, because
/// several statements may see it half filled by another process.
pub(crate) async fn ensure_current(c: &mut Connection, path: &Path) -> Result<()> {
    let state = match schema_state(c).await {
        Ok(SchemaState::Ready) => return Ok(()),
        Ok(_) => c.exclusive(apply_missing).await,
        Err(error) => Err(error),
    };
    let path = path.to_owned();
    match state {
        Ok(SchemaState::Ready | SchemaState::Older(_)) => Ok(()),
        Ok(SchemaState::Newer(found)) => Err(ArchiveError::Newer { path, found, known: newest_version() }),
        Ok(SchemaState::Foreign(what)) => Err(ArchiveError::NotAnArchive(path, what)),
        Err(error) => Err(ArchiveError::from_database(&path, &error)),
    }
}

async fn schema_state(c: &mut Connection) -> SqlResult<SchemaState> {
    if let Some(what) = foreign_description(c).await? {
        return Ok(SchemaState::Foreign(what));
    }
    let version = stored_version(c).await?;
    Ok(match version.cmp(&newest_version()) {
        Ordering::Less => SchemaState::Older(version),
        Ordering::Equal => SchemaState::Ready,
        Ordering::Greater => SchemaState::Newer(version),
    })
}

/// Stored version; 0 for a database without tables.
async fn stored_version(c: &mut Connection) -> SqlResult<i64> {
    if let Connection::Sqlite(_) = c {
        return c.fetch_one(statement("PRAGMA user_version"), |row| row.get(0)).await;
    }
    if !applied_exists(c).await? {
        return Ok(0);
    }
    c.fetch_one(statement("SELECT COALESCE(MAX(version), 0) FROM _sqlx_migrations"), |row| row.get(0)).await
}

/// Queries `pg_class`, because `to_regclass` caches a missing table, even while another process creates it.
async fn applied_exists(c: &mut Connection) -> SqlResult<bool> {
    let there = "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relname = '_sqlx_migrations' \
        AND relnamespace = current_schema()::regnamespace)";
    c.fetch_one(statement(there), |row| row.get(0)).await
}

/// Description of a foreign database. SQLite's header has been checked before.
async fn foreign_description(c: &mut Connection) -> SqlResult<Option<String>> {
    if let Connection::Sqlite(_) = c {
        return Ok(None);
    }
    let ours = if applied_exists(c).await? {
        let first = statement("SELECT checksum FROM _sqlx_migrations ORDER BY version LIMIT 1");
        let checksum: Option<Vec<u8>> = c.fetch_optional(first, |row| row.get(0)).await?;
        checksum.is_none_or(|sum| MIGRATIONS.first().is_some_and(|m| *m.checksum == *sum))
    } else {
        let tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = current_schema()";
        c.fetch_one(statement(tables), |row| row.get::<i64>(0)).await? == 0
    };
    Ok((!ours).then(|| "a PostgreSQL database of another program".to_owned()))
}

/// Applies missing migrations and returns the state before.
async fn apply_missing(c: &mut Connection) -> SqlResult<SchemaState> {
    let found = schema_state(c).await?;
    if let SchemaState::Older(version) = found {
        c.execute(statement(CREATE_MIGRATION_TABLE)).await?;
        for migration in MIGRATIONS.iter().filter(|m| m.version > version) {
            apply_migration(c, migration).await?;
        }
        if let Connection::Sqlite(_) = c {
            c.execute(dynamic_statement(format!("PRAGMA user_version = {}", newest_version()))).await?;
        }
    }
    Ok(found)
}

async fn apply_migration(c: &mut Connection, migration: &Migration) -> SqlResult<()> {
    c.execute_script(migration.sql.clone()).await?;
    if migration.version == CARDS_VERSION {
        fill_version_3(c).await?;
    }
    let note = statement(INSERT_MIGRATION).bind(migration.version).bind(&*migration.description);
    c.execute(note.bind(migration.checksum.to_vec())).await.map(|_| ())
}

// Data migration to version 3: facts of cards, figures and settings of runs, which SQL alone cannot compute.

/// Schema version that adds the tables of card facts, figures and settings.
const CARDS_VERSION: i64 = 3;

/// Fills the tables of version 3 within the transaction that creates them.
async fn fill_version_3(c: &mut Connection) -> SqlResult<()> {
    let cards = statement("SELECT id, maker, model, capacity_bytes FROM card");
    let cards = c.fetch_all(cards, facts_from_row).await?;
    let mut names = Vec::new();
    for (name, facts) in cards {
        update_card(c, &name, &facts, None).await?;
        names.extend(CardNames::from_facts(&facts).map(|names| (name, names)));
    }
    write_names(c, names).await?;
    let asked = "SELECT s.id, s.card_id, s.target, s.condition, r.name FROM session s \
        JOIN recipe r ON r.hash = s.recipe_hash";
    for session in c.fetch_all(statement(asked), session_from_row).await? {
        fill_session(c, session).await?;
    }
    Ok(())
}

fn facts_from_row(row: &SqlRow) -> SqlResult<(String, CardFacts)> {
    let facts = CardFacts {
        maker: row.get(1)?,
        model: row.get::<Option<String>>(2)?.filter(|model| !model.is_empty()),
        capacity_bytes: row.get_optional_integer(3)?,
        ..CardFacts::default()
    };
    Ok((row.get(0)?, facts))
}

struct OldSession {
    id: String,
    card: Option<String>,
    target: String,
    /// `None` if the condition is unreadable.
    setting: Option<Setting>,
}

fn session_from_row(row: &SqlRow) -> SqlResult<OldSession> {
    let recipe = row.get(4)?;
    let setting = row.get_json(3).ok().map(|condition| Setting { recipe, size_bytes: None, condition });
    Ok(OldSession { id: row.get(0)?, card: row.get(1)?, target: row.get(2)?, setting })
}

/// Leaves unreadable data without figures: one damaged session must not lock the whole archive.
async fn fill_session(c: &mut Connection, session: OldSession) -> SqlResult<()> {
    let card = match &session.card {
        Some(card) => card.clone(),
        None => create_unnamed_card(c, &session).await?,
    };
    let update = statement("UPDATE session SET card_id = $2, kind = 'bench' WHERE id = $1");
    c.execute(update.bind(&session.id).bind(card)).await?;
    let Some(setting) = &session.setting else { return Ok(()) };
    let mut shared = SharedSettings::default();
    let (hash, rig) = (shared.add_setting(setting)?, shared.add_rig(&setting.condition)?);
    shared.write_missing(c).await?;
    let update = statement("UPDATE session SET rig_hash = $2 WHERE id = $1");
    c.execute(update.bind(&session.id).bind(rig)).await?;
    fill_runs(c, &session.id, &hash).await
}

async fn fill_runs(c: &mut Connection, session: &str, setting: &str) -> SqlResult<()> {
    let fill =
        "UPDATE run SET setting_hash = $3, loops = $4, figures = $5 WHERE session_id = $1 AND number = $2";
    let finished = statement("SELECT number, results FROM run WHERE session_id = $1 AND results IS NOT NULL");
    let read = |row: &SqlRow| Ok((row.get::<i64>(0)?, row.get_json::<RunResult>(1).ok()));
    for (number, run) in c.fetch_all(finished.bind(session), read).await? {
        let Some(run) = run.map(|run| Run::from(&run)) else { continue };
        let fill = statement(fill).bind(session).bind(number).bind(setting).bind(run.loops);
        c.execute(fill.bind(figure_json::figures_to_json(&run.valid_figures())?)).await?;
    }
    Ok(())
}

/// Creates a card for a session of an unidentified card.
async fn create_unnamed_card(c: &mut Connection, session: &OldSession) -> SqlResult<String> {
    let sighting = naming::sighting_of_unit(None, &session.id, &session.target);
    let mut resolver = CardResolver::default();
    let placed = resolver.resolve(&sighting);
    resolver.store(c).await?;
    Ok(placed.card)
}
