//! One session as a line of a list: when, of which card, what was done, and what came of it.

use super::document::{Shown, document};
use crate::error::Result;
use cardscope_model::report::Tone;
use cardscope_store::{Archive, EndedHow, SessionSummary};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// One session or record of the list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub session: String,
    /// When it began, in UTC.
    pub started_at: String,
    /// The target as it was named.
    pub target: String,
    /// The card as it names itself, where it could be identified.
    pub card: Option<String>,
    /// The card as the archive calls it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub title: Option<String>,
    /// What it is of: `bench` or another verb that measured it, `import` for a log of another tool.
    pub kind: String,
    /// The recipe of a benchmark.
    pub recipe: Option<String>,
    /// `complete`, `interrupted`, `failed`, `running`, or `crashed` where its process ended without a word.
    pub state: String,
    /// What came of it: the answer of its page, or how many runs it has.
    #[serde(default)]
    pub result: String,
    /// How good that is.
    #[serde(default)]
    pub tone: Tone,
    /// The session of the check that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part_of: Option<String>,
}

/// Answer and colour of the page that a verb's document becomes, where it becomes one.
pub type Answer<'a> = &'a dyn Fn(&str, &Value) -> Option<(String, Tone)>;

/// A list of so many sessions tells the answer of each benchmark; a longer one, which would read all their runs, how many
/// runs it has.
const ANSWERED: usize = 200;

/// Sessions as lines, oldest first.
pub(super) fn lines(
    archive: &mut Archive,
    mut sessions: Vec<SessionSummary>,
    answer: Answer<'_>,
) -> Result<Vec<Line>> {
    sessions.sort_by(|a, b| (&a.started_at, a.id).cmp(&(&b.started_at, b.id)));
    let titles: HashMap<String, String> = archive.cards()?.into_iter().map(|c| (c.id, c.title)).collect();
    let mut lines = Vec::new();
    let mut check: Option<&SessionSummary> = None;
    for session in &sessions {
        let title = session.card_id.as_ref().and_then(|id| titles.get(id));
        // What still runs has no result yet, and what cannot be read has none; the list shows the others none the less.
        let told = !session.running && (session.is_record || sessions.len() <= ANSWERED);
        let shown = told.then(|| document(archive, session.id).ok()).flatten();
        let answered = shown.map(Shown::into_document).and_then(|(kind, document)| answer(&kind, &document));
        let (result, tone) = answered.unwrap_or_else(|| (runs(session), Tone::Plain));
        let part_of = check.filter(|check| is_part(session, check)).map(|check| check.id.to_string());
        if session.kind == "check" {
            check = Some(session);
        }
        lines.push(Line {
            session: session.id.to_string(),
            started_at: session.started_at.clone(),
            target: session.target.clone(),
            card: session.card.clone(),
            title: title.cloned(),
            kind: session.kind.clone(),
            recipe: Some(session.recipe.clone()).filter(|recipe| !recipe.is_empty()),
            state: state(session.ended, session.running).to_owned(),
            result,
            tone,
            part_of,
        });
    }
    Ok(lines)
}

/// Whether a session began while a check had the same card open.
fn is_part(session: &SessionSummary, check: &SessionSummary) -> bool {
    // A check that crashed has no end: what came after it is none of its parts.
    let while_it_ran = check.ended_at.as_ref().map_or(check.running, |end| session.started_at <= *end);
    let same_card = match (&session.card_id, &check.card_id) {
        (Some(card), Some(checked)) => card == checked,
        _ => session.target == check.target,
    };
    same_card && session.kind != "import" && session.kind != "check" && while_it_ran
}

fn runs(session: &SessionSummary) -> String {
    match session.runs {
        0 => String::new(),
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    }
}

fn state(ended: Option<EndedHow>, running: bool) -> &'static str {
    match ended {
        Some(how) => how.word(),
        None if running => "running",
        None => "crashed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(kind: &str, started_at: &str, ended_at: Option<&str>, card: Option<&str>) -> SessionSummary {
        SessionSummary {
            id: "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap(),
            kind: kind.into(),
            target: "/dev/sdb".into(),
            card: None,
            card_id: card.map(str::to_owned),
            recipe: String::new(),
            is_record: true,
            started_at: started_at.into(),
            updated_at: None,
            ended_at: ended_at.map(str::to_owned),
            ended: None,
            running: false,
            runs: 0,
            samples: 0,
        }
    }

    #[test]
    fn a_session_is_part_of_a_check_that_had_the_same_card_open() {
        let part = session("map", "2026-01-01T10:05", None, Some("a"));
        let whole = session("check", "2026-01-01T10:00", Some("2026-01-01T10:10"), Some("a"));
        assert!(is_part(&part, &whole));
        assert!(!is_part(&session("map", "2026-01-01T11:00", None, Some("a")), &whole), "it came later");
        assert!(
            !is_part(&part, &SessionSummary { card_id: Some("b".into()), ..whole.clone() }),
            "another card"
        );
        let crashed = SessionSummary { ended_at: None, ..whole };
        assert!(!is_part(&part, &crashed), "nobody knows how long it ran");
        assert!(is_part(&part, &SessionSummary { running: true, ..crashed }));
    }
}
