//! Logs that are in no archive, in an archive's shape: the built-in collection, and files that are only looked into.

use crate::error::Failure;
use cardscope_analysis::estimate::{self, deviation};
use cardscope_model::card::{CardFacts, Event, EventKind};
use cardscope_model::collection;
use cardscope_model::comparison::Setting;
use cardscope_model::log::{Log, LogFigure, LogRun};
use cardscope_model::test_name::TestName;
use cardscope_store::{Figure, MeasuredRun, SessionId, StoredCard, SummaryRow};
use std::sync::Arc;

/// One card of the collection.
pub(super) struct Collected {
    pub(super) card: StoredCard,
    pub(super) events: Vec<Event>,
    pub(super) runs: Vec<MeasuredRun>,
}

/// All of them.
pub(super) fn all() -> Result<Vec<Collected>, Failure> {
    let reports = collection::builtin().map_err(Failure::io)?;
    let of = |report: &collection::Collected| {
        let source = format!("built-in: {} ({})", report.name, report.title);
        of_logs(&report.name, &source, &report.logs)
    };
    Ok(reports.iter().flat_map(of).collect())
}

/// The cards of some logs, each once. `place` is where they are from, as part of a card's id; `source` as it is told.
pub(super) fn of_logs(place: &str, source: &str, logs: &[Log]) -> Vec<Collected> {
    let mut cards: Vec<Collected> = Vec::new();
    for (number, log) in logs.iter().enumerate() {
        let id = id_of(place, &log.card);
        let at = cards.iter().position(|c| c.card.id == id).unwrap_or_else(|| {
            cards.push(bare(id, log));
            cards.len() - 1
        });
        cards[at].add(log, source, number);
    }
    cards
}

/// The same in every archive, and none that an archive could make.
fn id_of(report: &str, card: &CardFacts) -> String {
    let words: Vec<String> = card.title().split_whitespace().map(str::to_lowercase).collect();
    format!("{report}:{}", words.join("-"))
}

fn bare(id: String, log: &Log) -> Collected {
    let bought = log.events.iter().rev().find(|e| e.kind == EventKind::Bought);
    let card = StoredCard {
        id,
        title: log.card.title(),
        facts: log.card.clone(),
        specimens: 1,
        sessions: 0,
        runs: 0,
        first: None,
        last: None,
        price: bought.and_then(|e| e.price.clone()),
    };
    Collected { card, events: log.events.clone(), runs: Vec::new() }
}

impl Collected {
    fn add(&mut self, log: &Log, source: &str, number: usize) {
        if log.runs.is_empty() {
            return;
        }
        self.card.sessions += 1;
        self.card.runs += log.runs.len() as u32;
        let session = session_of(&format!("{} {number}", self.card.id));
        let recipe = log.tool.as_ref().map_or_else(String::new, |tool| tool.name.clone());
        self.runs.extend(log.runs.iter().map(|run| MeasuredRun {
            session,
            card_id: self.card.id.clone(),
            specimen: None,
            setting: setting(&recipe, log, run),
            at: log.date.clone(),
            run: run.run,
            counted: true,
            source: Some(source.to_owned()),
            figures: run.results.iter().map(figure).collect(),
        }));
    }

    /// Whether all words of a text are in its name, or its id begins so.
    pub(super) fn is_named(&self, text: &str) -> bool {
        let facts = &self.card.facts;
        let parts = [facts.brand.as_deref(), facts.name.as_deref(), facts.model.as_deref()];
        let name = [self.card.title.as_str()]
            .into_iter()
            .chain(parts.into_iter().flatten())
            .chain(facts.marks.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase();
        let text = text.to_lowercase();
        self.card.id.starts_with(&text) || text.split_whitespace().all(|word| name.contains(word))
    }

    /// What the archive would reckon of it.
    pub(super) fn summaries(&self, tests: &[TestName]) -> Vec<SummaryRow> {
        let mut groups: Vec<Group> = Vec::new();
        for run in &self.runs {
            for figure in run.figures.iter().filter(|f| tests.is_empty() || tests.contains(&f.test)) {
                match groups.iter_mut().find(|group| group.is_of(run, figure)) {
                    Some(group) => group.values.push(figure.mb_s),
                    None => groups.push(Group {
                        setting: Arc::new(run.setting.clone()),
                        test: figure.test,
                        step: figure.step.clone(),
                        values: vec![figure.mb_s],
                    }),
                }
            }
        }
        groups.into_iter().filter_map(|group| group.row(&self.card.id)).collect()
    }
}

/// The runs of one test under one setting.
struct Group {
    setting: Arc<Setting>,
    test: TestName,
    step: Option<String>,
    values: Vec<f64>,
}

impl Group {
    fn is_of(&self, run: &MeasuredRun, figure: &Figure) -> bool {
        *self.setting == run.setting && self.test == figure.test && self.step == figure.step
    }

    fn row(self, card: &str) -> Option<SummaryRow> {
        let all = estimate::estimate(&self.values)?;
        Some(SummaryRow {
            card_id: card.to_owned(),
            setting: self.setting,
            test: self.test,
            step: self.step,
            n: all.n,
            mean: all.mean,
            sd: deviation(&self.values),
            median: all.median,
            best: all.best,
            worst: all.worst,
            max_latency_us: None,
            last: None,
        })
    }
}

/// A session's name that no archive makes (theirs are of version 7) and that stays the same: FNV-1a of 128 bits.
fn session_of(text: &str) -> SessionId {
    let (offset, prime) =
        (0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, 0x0000_0000_0100_0000_0000_0000_0000_013b);
    let hash = text.bytes().fold(offset, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(prime));
    let uuid = uuid::Builder::from_custom_bytes(hash.to_be_bytes()).into_uuid();
    uuid.to_string().parse().expect("a UUID is a session's name")
}

fn setting(recipe: &str, log: &Log, run: &LogRun) -> Setting {
    let mut condition = log.condition.clone();
    if let Some(own) = &run.condition {
        condition.overlay(own);
    }
    Setting { recipe: recipe.to_owned(), size_bytes: run.size_bytes, condition }
}

fn figure(figure: &LogFigure) -> Figure {
    Figure {
        test: figure.name(),
        step: figure.step.clone(),
        mb_s: figure.mb_s,
        iops: figure.iops,
        latency_us: figure.latency_us,
        max_latency_us: figure.max_latency_us,
        printed: Some(figure.as_printed.clone()),
    }
}
