//! Every test of every card over its runs, kept ready: what ranking thousands of cards reads.
//!
//! Whoever writes runs marks their card in the same transaction; the summaries of marked cards are made anew before
//! anybody reads one.

mod spread;

use crate::connection::{Connection, Durability, Outcome, Rows, composed, statement};
use crate::measurements::{at, settings};
use crate::{Archive, ArchiveError, figures};
use cardscope_model::archived::SummaryRow;
use cardscope_model::run::CardRun;
use cardscope_model::setting::Setting;
use cardscope_model::test_name::TestName;
use spread::{Spread, Spreads, row};
use std::collections::HashMap;
use std::sync::Arc;

/// Cards whose summaries are made in one transaction: others wait for its end, half a second at 500 runs a card.
const CARDS_AT_ONCE: usize = 100;

const ROWS: &str = "SELECT card_id, setting_hash, tests FROM summary";

const INSERT: &str = "INSERT INTO summary (card_id, setting_hash, tests)";

const RUNS: &str = concat!(
    "SELECT s.card_id, r.setting_hash, ",
    at!(),
    ", r.figures FROM session s JOIN run r ON r.session_id = s.id WHERE r.counted AND r.figures IS NOT NULL \
     AND s.card_id IN "
);

const COUNT: &str = "UPDATE card SET \
    specimens = (SELECT COUNT(*) FROM specimen p WHERE p.card_id = card.id), \
    sessions = (SELECT COUNT(*) FROM session s WHERE s.card_id = card.id AND s.recipe_hash <> ''), \
    runs = (SELECT COUNT(*) FROM session s JOIN run r ON r.session_id = s.id \
        WHERE s.card_id = card.id AND r.figures IS NOT NULL), \
    first_measured = (SELECT MIN(s.measured_at) FROM session s WHERE s.card_id = card.id), \
    last_measured = (SELECT MAX(s.measured_at) FROM session s WHERE s.card_id = card.id) WHERE id IN ";

impl Archive {
    /// The tests of all cards that are wanted.
    ///
    /// # Errors
    /// If they cannot be read, or summaries that are too old cannot be made anew.
    pub fn summaries(
        &mut self,
        wanted: impl Fn(TestName) -> bool + Sync,
    ) -> Result<Vec<SummaryRow>, ArchiveError> {
        self.settle()?;
        self.call(self.durability(), async |c| read(c, &wanted).await)
    }

    /// Makes anew what is older than the runs it was made of. Reading does so by itself; after a large import it is
    /// done at once, so that nobody waits for it later.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn settle(&mut self) -> Result<(), ArchiveError> {
        let any = async |c: &mut Connection| {
            c.optional(statement("SELECT card_id FROM stale LIMIT 1"), |_| Ok(())).await
        };
        while self.call(self.durability(), any)?.is_some() {
            self.call(Durability::Later, async |c| c.alone(settle_some).await)?;
        }
        Ok(())
    }
}

/// What the archive would say of the tests that are wanted, over runs that are in none.
pub fn summaries_of(runs: &[CardRun], wanted: impl Fn(TestName) -> bool) -> Vec<SummaryRow> {
    let mut settings: Vec<Arc<Setting>> = Vec::new();
    let mut spreads = Spreads::default();
    for run in runs.iter().filter(|run| run.run.counted) {
        let place = settings.iter().position(|known| **known == run.setting).unwrap_or_else(|| {
            settings.push(Arc::new(run.setting.clone()));
            settings.len() - 1
        });
        // Of so many digits that settings stay in the order in which they came.
        spreads.add(run.card_id.clone(), format!("{place:08}"), run.at.clone(), &run.run.results);
    }
    let of_group = |(card, place, group): (String, String, Vec<Spread>)| {
        let setting =
            place.parse().ok().and_then(|place: usize| settings.get(place)).cloned().unwrap_or_default();
        let of_use = group.into_iter().filter(|spread| wanted(spread.0));
        of_use.map(|spread| row(&card, &setting, spread)).collect::<Vec<_>>()
    };
    spreads.into_groups().flat_map(of_group).collect()
}

async fn settle_some(c: &mut Connection) -> Outcome<()> {
    // Waits for whoever has marked one of them and is not done yet.
    let take = format!(
        "DELETE FROM stale WHERE card_id IN (SELECT card_id FROM stale ORDER BY card_id LIMIT {CARDS_AT_ONCE}) \
         RETURNING card_id"
    );
    let cards: Vec<String> = c.all(composed(take), |row| row.get(0)).await?;
    if cards.is_empty() {
        return Ok(());
    }
    let these = format!("({})", c.all_places(cards.len()));
    let of_these = |head: &str| composed(format!("{head}{these}")).bind_all(&cards);
    c.execute(of_these("DELETE FROM summary WHERE card_id IN ")).await?;
    let mut spreads = Spreads::default();
    let read = c.all(of_these(RUNS), |row| {
        // One damaged run must not keep all others from being summed up; who looks at it is told.
        let figures = figures::of_text(&row.get::<String>(3)?).unwrap_or_default();
        spreads.add(row.get(0)?, row.get(1)?, row.get(2)?, &figures);
        Ok(())
    });
    read.await?;
    let mut rows = Rows::new(INSERT, "");
    spreads.into_rows(&mut rows)?;
    rows.write(c).await?;
    c.execute(of_these(COUNT)).await.map(|_| ())
}

/// The tests of one card under one setting, as they were read.
struct Read {
    card: String,
    setting: String,
    tests: Vec<Spread>,
}

async fn read(c: &mut Connection, wanted: &(impl Fn(TestName) -> bool + Sync)) -> Outcome<Vec<SummaryRow>> {
    let rows = c.all(statement(ROWS), |row| {
        // One that cannot be read says nothing, rather than keep thousands of others from being ranked.
        let mut tests: Vec<Spread> = row.json(2).unwrap_or_default();
        tests.retain(|spread| wanted(spread.0));
        Ok(Read { card: row.get(0)?, setting: row.get(1)?, tests })
    });
    let mut rows = rows.await?;
    rows.retain(|row| !row.tests.is_empty());
    rows.sort_by(|a, b| (&a.card, &a.setting).cmp(&(&b.card, &b.setting)));
    let settings = settings(c, rows.iter().map(|row| row.setting.as_str())).await?;
    let settings: HashMap<String, Arc<Setting>> =
        settings.into_iter().map(|(hash, setting)| (hash, Arc::new(setting))).collect();
    let mut all = Vec::with_capacity(rows.iter().map(|row| row.tests.len()).sum());
    for row in rows {
        let setting = settings.get(&row.setting).cloned().unwrap_or_default();
        all.extend(row.tests.into_iter().map(|spread| spread::row(&row.card, &setting, spread)));
    }
    Ok(all)
}
