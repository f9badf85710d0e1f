//! Data migration to version 3: facts of cards, figures and settings of runs, which SQL alone cannot compute.

use crate::connection::{Connection, SqlResult, SqlRow, statement};
use crate::figure_json;
use crate::naming::{self, CardNames};
use crate::resolver::{CardResolver, update_card, write_names};
use crate::shared_settings::SharedSettings;
use cardscope_model::card::CardFacts;
use cardscope_model::result;
use cardscope_model::run::Run;
use cardscope_model::setting::Setting;

/// Version whose new tables [`fill_version_3`] fills.
pub(crate) const CARDS_VERSION: i64 = 3;

/// Fills the tables of version 3 within the transaction that creates them.
pub(crate) async fn fill_version_3(c: &mut Connection) -> SqlResult<()> {
    let cards =
        c.fetch_all(statement("SELECT id, maker, model, capacity_bytes FROM card"), facts_from_row).await?;
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
    let update = statement("UPDATE session SET card_id = $2, kind = $3 WHERE id = $1");
    c.execute(update.bind(&session.id).bind(card).bind("bench")).await?;
    let Some(setting) = &session.setting else { return Ok(()) };
    let mut shared = SharedSettings::default();
    let (hash, rig) = (shared.add_setting(setting)?, shared.add_rig(&setting.condition)?);
    shared.write_missing(c).await?;
    let update = statement("UPDATE session SET rig_hash = $2 WHERE id = $1");
    c.execute(update.bind(&session.id).bind(rig)).await?;
    fill_runs(c, &session.id, &hash).await
}

async fn fill_runs(c: &mut Connection, session: &str, setting: &str) -> SqlResult<()> {
    const FILL: &str =
        "UPDATE run SET setting_hash = $3, loops = $4, figures = $5 WHERE session_id = $1 AND number = $2";
    let finished = statement("SELECT number, results FROM run WHERE session_id = $1 AND results IS NOT NULL");
    let runs: Vec<(i64, Option<result::RunResult>)> =
        c.fetch_all(finished.bind(session), |row| Ok((row.get(0)?, row.get_json(1).ok()))).await?;
    for (number, run) in runs {
        let Some(run) = run else { continue };
        let run = Run::from(&run);
        let fill = statement(FILL).bind(session).bind(number).bind(setting).bind(run.loops);
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
