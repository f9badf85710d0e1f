//! Sessions as lines of a list, each with date, card, verb and result.

use cardscope_model::answer::Answer;
use cardscope_model::archive_rows::SessionOverview;
use cardscope_model::recipe::MAX_RUNS;
use cardscope_model::report::NewsTone;
use cardscope_session::archive_access::load_document;
use cardscope_session::error::Result;
use cardscope_store::{Archive, SessionEnd, SessionId, SessionSummary};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionLine {
    #[serde(flatten)]
    pub session: SessionOverview,
    /// Name from the card's own identity, if it was read.
    pub card: Option<String>,
    /// Answer of its page, or the number of its runs.
    pub result: String,
    /// Short form of `result` for a table.
    #[serde(skip)]
    pub brief: String,
}

/// Renders the document of a verb (first argument) and returns answer and tone of its page, if it has one.
pub type AnswerRenderer = fn(&str, &Value) -> Option<TonedAnswer>;

type TonedAnswer = (Answer, NewsTone);

/// Runs that are read for one list, newest sessions first. Sessions beyond the limit show only their number of runs.
const MOST_RUNS_READ: u32 = MAX_RUNS;

const MOST_CACHED_ANSWERS: usize = 10_000;

/// Answers of ended sessions, each rendered once: a list has hundreds of them, and a document may have thousands of
/// samples.
#[derive(Debug)]
pub struct AnswerCache {
    render: AnswerRenderer,
    rendered: Mutex<HashMap<SessionId, Option<(Answer, NewsTone)>>>,
}

impl AnswerCache {
    pub fn new(draw: AnswerRenderer) -> Self {
        AnswerCache { render: draw, rendered: Mutex::default() }
    }

    /// Answer of a session; `None` while it runs, if its document cannot be read, or if it has more runs than `left`.
    fn get(&self, archive: &mut Archive, session: &SessionSummary, left: &mut u32) -> Option<TonedAnswer> {
        if session.running {
            return None;
        }
        if let Some(known) = self.lock_rendered().get(&session.id) {
            return known.clone();
        }
        if !session.is_record {
            *left = left.checked_sub(session.runs)?;
        }
        let (kind, document) = load_document(archive, session.id).ok()?.into_document();
        let answer = (self.render)(&kind, &document);
        // A crashed session may get its end later, by an import of its file, so only ended ones are cached.
        if session.ended.is_some() {
            let mut drawn = self.lock_rendered();
            // Nothing is lost: the next list fills the cache again.
            if drawn.len() >= MOST_CACHED_ANSWERS {
                drawn.clear();
            }
            drawn.insert(session.id, answer.clone());
        }
        answer
    }

    fn lock_rendered(&self) -> MutexGuard<'_, HashMap<SessionId, Option<(Answer, NewsTone)>>> {
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn session_lines(
    archive: &mut Archive,
    mut sessions: Vec<SessionSummary>,
    answers: &AnswerCache,
) -> Result<Vec<SessionLine>> {
    sessions.sort_by(|a, b| (&a.started_at, a.id).cmp(&(&b.started_at, b.id)));
    let titles: HashMap<String, String> = archive.cards()?.into_iter().map(|c| (c.id, c.title)).collect();
    let mut left = MOST_RUNS_READ;
    // A session without a readable result is listed with the number of its runs.
    let mut answered: HashMap<SessionId, (Answer, NewsTone)> = HashMap::new();
    // Newest first, since these get the limited number of runs.
    for session in sessions.iter().rev() {
        answered.extend(answers.get(archive, session, &mut left).map(|answer| (session.id, answer)));
    }
    let mut lines = Vec::new();
    let mut check: Option<&SessionSummary> = None;
    for session in &sessions {
        let title = session.card_id.as_ref().and_then(|id| titles.get(id));
        let answer = answered.remove(&session.id);
        let (result, tone) = answer.unwrap_or_else(|| (count_runs(session).into(), NewsTone::Plain));
        let part_of = check.filter(|c| is_part_of_check(session, c)).map(|check| check.id.to_string());
        if session.kind == "check" {
            check = Some(session);
        }
        let overview = SessionOverview {
            session: session.id.to_string(),
            started_at: session.started_at.clone(),
            target: session.target.clone(),
            title: title.cloned(),
            kind: session.kind.clone(),
            recipe: Some(session.recipe.clone()).filter(|recipe| !recipe.is_empty()),
            state: state_word(session.ended, session.running).to_owned(),
            tone,
            part_of,
        };
        let brief = result.brief().to_owned();
        lines.push(SessionLine {
            session: overview,
            card: session.card.clone(),
            result: result.into(),
            brief,
        });
    }
    Ok(lines)
}

fn is_part_of_check(session: &SessionSummary, check: &SessionSummary) -> bool {
    // A check that crashed has no end, so later sessions do not count as its parts.
    let while_it_ran = check.ended_at.as_ref().map_or(check.running, |end| session.started_at <= *end);
    let same_card = match (&session.card_id, &check.card_id) {
        (Some(card), Some(checked)) => card == checked,
        _ => session.target == check.target,
    };
    same_card && session.kind != "import" && session.kind != "check" && while_it_ran
}

fn count_runs(session: &SessionSummary) -> String {
    match session.runs {
        0 => String::new(),
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    }
}

fn state_word(ended: Option<SessionEnd>, running: bool) -> &'static str {
    match ended {
        Some(how) => how.as_str(),
        None if running => "running",
        None => "crashed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::Condition;
    use cardscope_session::recorder;
    use std::sync::atomic::{AtomicU32, Ordering};

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
    fn answer_of_an_ended_session_is_rendered_once() {
        static DRAWN: AtomicU32 = AtomicU32::new(0);
        let answers = AnswerCache::new(|kind, document| {
            DRAWN.fetch_add(1, Ordering::Relaxed);
            Some((format!("{kind} of {}", document["target"]).into(), NewsTone::Plain))
        });
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("archive.sqlite")).unwrap();
        let begun = recorder::session_start("verify", "sim:constant", 1, &Condition::default(), None);
        let id = archive.begin_session(&begun).unwrap();
        let session = SessionSummary { id, ..session("verify", "2026-01-01T10:05", None, None) };
        // A crashed session is rendered again, since it may have got an end in between.
        for (ended, drawn) in
            [(None, 1), (None, 2), (Some(SessionEnd::Complete), 3), (Some(SessionEnd::Complete), 3)]
        {
            let listed =
                session_lines(&mut archive, vec![SessionSummary { ended, ..session.clone() }], &answers)
                    .unwrap();
            assert_eq!(listed[0].result, "verify of \"sim:constant\"");
            assert_eq!(DRAWN.load(Ordering::Relaxed), drawn, "{ended:?}");
        }
    }

    #[test]
    fn only_runs_of_the_newest_sessions_are_read() {
        let answers = AnswerCache::new(|_, _| Some(("fast".into(), NewsTone::Plain)));
        let folder = tempfile::tempdir().unwrap();
        let mut archive = Archive::open(folder.path().join("archive.sqlite")).unwrap();
        let begun = recorder::session_start("bench", "sim:constant", 1, &Condition::default(), None);
        let mut of_runs = |hour: usize, runs| {
            let at = format!("2026-01-01T1{hour}:00");
            let id = archive.begin_session(&begun).unwrap();
            let ended = Some(SessionEnd::Complete);
            SessionSummary { id, is_record: false, runs, ended, ..session("bench", &at, None, None) }
        };
        let runs = [1, 2, MOST_RUNS_READ - 4, MOST_RUNS_READ, 3];
        let sessions: Vec<SessionSummary> = (0..).zip(runs).map(|(hour, runs)| of_runs(hour, runs)).collect();
        let mut said = || {
            let listed = session_lines(&mut archive, sessions.clone(), &answers).unwrap();
            listed.into_iter().map(|line| line.result).collect::<Vec<_>>()
        };
        assert_eq!(said(), ["fast", "2 runs", "fast", "1000 runs", "fast"]);
        assert_eq!(said(), ["fast", "2 runs", "fast", "fast", "fast"], "what was drawn is not read again");
        assert_eq!(said(), ["fast"; 5]);
    }

    #[test]
    fn session_belongs_to_a_check_of_the_same_card() {
        let part = session("map", "2026-01-01T10:05", None, Some("a"));
        let whole = session("check", "2026-01-01T10:00", Some("2026-01-01T10:10"), Some("a"));
        assert!(is_part_of_check(&part, &whole));
        assert!(
            !is_part_of_check(&session("map", "2026-01-01T11:00", None, Some("a")), &whole),
            "it came later"
        );
        assert!(
            !is_part_of_check(&part, &SessionSummary { card_id: Some("b".into()), ..whole.clone() }),
            "another card"
        );
        let crashed = SessionSummary { ended_at: None, ..whole };
        assert!(!is_part_of_check(&part, &crashed), "nobody knows how long it ran");
        assert!(is_part_of_check(&part, &SessionSummary { running: true, ..crashed }));
    }
}
