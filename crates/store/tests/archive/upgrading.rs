//! Upgrades of older archives: their sessions get cards, figures and summaries.

use crate::engines::on_both;
use crate::sessions::{report, results_of, run, sample, start};
use cardscope_store::{Archive, ArchiveError};
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection};
use std::path::Path;

/// Migrations as sqlx reads them from their folder.
fn migrations() -> Migrator {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(Migrator::new(Path::new("migrations"))).unwrap()
}

const SESSION: &str = "01890a5d-ac96-774b-bcce-b302099a8057";
const NAMELESS: &str = "01890a5d-ac96-774b-bcce-b302099a8058";
const CARD: &str = "c0ffee";

/// Runs SQL without Cardscope; returns the result of the last statement as text.
pub(crate) fn sql(place: &Path, text: String) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match place.to_str().unwrap() {
            address if address.starts_with("postgres:") => {
                let mut c = PgConnection::connect(address).await.unwrap();
                let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(&mut c).await.unwrap();
                c.close().await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
            path => {
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                let mut c = SqliteConnection::connect(&format!("sqlite://{path}?mode=rwc")).await.unwrap();
                let rows = sqlx::raw_sql(AssertSqlSafe(text)).fetch_all(&mut c).await.unwrap();
                c.close().await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
        }
    })
}

fn is_server(place: &Path) -> bool {
    place.starts_with("postgres:")
}

pub(crate) fn quoted(value: &impl serde::Serialize) -> String {
    format!("'{}'", serde_json::to_string(value).unwrap().replace('\'', "''"))
}

/// Archive of version 2 with two sessions, one of an unidentified card, and a record.
fn old(place: &Path, more: &str) {
    let bytes = if is_server(place) { "BYTEA" } else { "BLOB" };
    let mut text = format!(
        "CREATE TABLE _sqlx_migrations (version BIGINT PRIMARY KEY, description TEXT NOT NULL, installed_on TIMESTAMP \
         NOT NULL DEFAULT CURRENT_TIMESTAMP, success BOOLEAN NOT NULL, checksum {bytes} NOT NULL, \
         execution_time BIGINT NOT NULL);"
    );
    for migration in migrations().iter().filter(|m| m.version <= 2) {
        text += migration.sql.as_str();
        let sum: String = migration.checksum.iter().map(|byte| format!("{byte:02x}")).collect();
        let sum = if is_server(place) { format!("'\\x{sum}'") } else { format!("x'{sum}'") };
        text += &format!(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES ({}, '{}', TRUE, {sum}, 0);",
            migration.version, migration.description
        );
    }
    if !is_server(place) {
        text += "PRAGMA user_version = 2; PRAGMA application_id = 1129538353;";
    }
    let start = start();
    let unit = start.specimen.unwrap();
    let stamp = "2025-01-02T03:04:05.000000Z";
    text += &format!(
        "INSERT INTO recipe VALUES ('hash', 'quick', '1', 'text');
         INSERT INTO card VALUES ('{CARD}', 'SanDisk', 'SN32G', 31914983424, '{stamp}');
         INSERT INTO specimen VALUES ('{}', '{CARD}', '0x1a2b3c4d', '{stamp}');",
        unit.id
    );
    for (id, specimen) in [(SESSION, format!("'{}'", unit.id)), (NAMELESS, "NULL".into())] {
        text += &format!(
            "INSERT INTO session VALUES ('{id}', {specimen}, '/dev/sdx', 'hash', '7', {}, '{{}}', 'psync', NULL, 'null', \
             'null', '0.1.0', '', '{stamp}', '{stamp}', 'complete', NULL);",
            quoted(&start.condition)
        );
    }
    let results = quoted(&results_of(1, &[("RND4K Q1T1 read", 7.5)]));
    text += &format!(
        "INSERT INTO run VALUES ('{SESSION}', 1, '{}', TRUE, '{stamp}', '{stamp}', {results});
         INSERT INTO run VALUES ('{SESSION}', 2, '1', TRUE, '{stamp}', '{stamp}', 'damaged');
         INSERT INTO run VALUES ('{SESSION}', 3, '1', TRUE, '{stamp}', NULL, NULL);
         INSERT INTO record VALUES ('01890a5d-ac96-774b-bcce-b302099a8059', 'verify', '{}', '/dev/sdx', '7', '{{}}', \
         '{{}}', 'null', 'null', '0.1.0', '', '{stamp}', NULL, NULL, NULL, NULL);",
        u64::MAX,
        unit.id
    );
    sql(place, text + more);
}

#[test]
fn upgraded_sessions_have_card_figures_and_summary() {
    on_both(|place| {
        old(place, "");
        let mut archive = Archive::open(place).unwrap();
        let cards = archive.cards().unwrap();
        let titles: Vec<_> = cards.iter().map(|c| (c.title.as_str(), c.units, c.sessions, c.runs)).collect();
        assert_eq!(titles, [("SanDisk SN32G 32GB", 1, 1, 1), ("unnamed card of /dev/sdx", 0, 1, 0)]);
        assert_eq!(cards[0].id, CARD);
        let runs = archive.measurements(&[CARD.to_owned()]).unwrap();
        assert_eq!(
            (runs.len(), runs[0].run.results[0].mb_s, runs[0].setting.recipe.as_str()),
            (1, 7.5, "quick")
        );
        assert_eq!(archive.summaries(|_| true).unwrap()[0].n, 1);
        let sessions = archive.sessions().unwrap();
        assert_eq!(sessions.iter().filter(|s| s.kind == "bench").count(), 2);
        assert_eq!(sessions.iter().find(|s| s.is_record).unwrap().card_id.as_deref(), Some(CARD));
        // The same unit is the same card from now on.
        let session = archive.begin_session(&start()).unwrap();
        archive.begin_run(session, run(1)).unwrap();
        archive.add_sample(session, 1, &sample(0)).unwrap();
        archive.finish(session, cardscope_store::SessionEnd::Complete, &report(session, vec![])).unwrap();
        assert_eq!(crate::logs::card_of(&mut archive, session), CARD);
        drop(archive);
        assert_eq!(Archive::open(place).unwrap().sessions().unwrap().len(), 4);
    });
}

#[test]
fn failed_upgrade_is_rolled_back() {
    on_both(|place| {
        // A table with the last name that the upgrade creates, so that it fails at its end.
        old(place, "CREATE TABLE stale (of_another TEXT);");
        let error = Archive::open(place).unwrap_err();
        assert!(matches!(error, ArchiveError::Failed { .. }), "{error}");
        let model = sql(place, "SELECT model FROM card".into());
        assert_eq!(model, ["SN32G"], "the old column is there, the new ones are not");
        let tables = if is_server(place) {
            "SELECT table_name::text FROM information_schema.tables WHERE table_name = 'known_as'"
        } else {
            "SELECT name FROM sqlite_master WHERE name = 'known_as'"
        };
        assert!(sql(place, tables.into()).is_empty());
        sql(place, "DROP TABLE stale".into());
        assert_eq!(Archive::open(place).unwrap().cards().unwrap().len(), 2);
    });
}

#[test]
fn concurrent_opening_upgrades_once() {
    on_both(|place| {
        old(place, "");
        let children = [(); 4].map(|()| crate::child("write 40", place));
        children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
        let mut archive = Archive::open(place).unwrap();
        assert_eq!((archive.sessions().unwrap().len(), archive.cards().unwrap().len()), (7, 2));
    });
}
