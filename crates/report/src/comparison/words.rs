//! What is said of an entry and of two of them: the same sentences on the terminal, in Markdown and on the page.

use crate::figure::{count, interval, speed};
use cardscope_model::comparison::{ComparedTest, Comparison, Entry, Pair, Setting, Spread, Verdict};
use cardscope_model::condition::{Condition, Origin};
use cardscope_model::units::BinarySize;

/// Which of a test's figures is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Mean of the runs.
    Average,
    /// Slowest run.
    Worst,
    /// Fastest run.
    Best,
    /// The run in the middle.
    Median,
}

impl Measure {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Measure; 4] = [Measure::Average, Measure::Worst, Measure::Best, Measure::Median];

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Measure::Average => "Average",
            Measure::Worst => "Worst",
            Measure::Best => "Best",
            Measure::Median => "Median",
        }
    }

    /// What it is, in a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Measure::Average => "the mean of all runs, with its 95 % interval",
            Measure::Worst => "the slowest run",
            Measure::Best => "the fastest run",
            Measure::Median => "the run in the middle",
        }
    }

    /// The figure in MB/s.
    #[must_use]
    pub fn of(self, spread: &Spread) -> f64 {
        match self {
            Measure::Average => spread.mean,
            Measure::Worst => spread.worst,
            Measure::Best => spread.best,
            Measure::Median => spread.median,
        }
    }
}

/// A test by its name, with its step where a recipe has it twice.
#[must_use]
pub fn test(test: &ComparedTest) -> String {
    match &test.step {
        Some(step) => format!("{} ({step})", test.test),
        None => test.test.to_string(),
    }
}

/// A setting in one line: `cdm8-default · 1 GiB · cooling active`.
#[must_use]
pub fn setting(setting: &Setting) -> String {
    let mut words = vec![setting.recipe.clone()];
    words.extend(setting.size_bytes.map(|bytes| BinarySize(bytes).to_string()));
    words.push(condition(&setting.condition));
    words.retain(|word| !word.trim().is_empty());
    words.join(" · ")
}

/// A condition in one line: `cooling active · reader slot`.
#[must_use]
pub fn condition(condition: &Condition) -> String {
    let words = condition.iter().map(|(word, value)| format!("{} {value}", word.replace('_', " ")));
    words.collect::<Vec<_>>().join(" · ")
}

/// How much was measured of an entry: `10 runs in 2 sessions of 1 piece, 2025-05-01 to 2025-05-17`.
#[must_use]
pub fn amount(entry: &Entry) -> String {
    let mut out = format!(
        "{} in {} of {}",
        count(entry.runs, "run"),
        count(entry.sessions, "session"),
        count(entry.specimens, "piece")
    );
    match &entry.measured {
        Some([first, last]) if first == last => out.push_str(&format!(", {first}")),
        Some([first, last]) => out.push_str(&format!(", {first} to {last}")),
        None => {}
    }
    out
}

/// Runs over all entries of a comparison, as a chart names them: `10 runs each`, `2 to 10 runs each`.
#[must_use]
pub fn runs(comparison: &Comparison) -> String {
    runs_each(comparison.tests.iter().flat_map(|t| t.spreads.iter().flatten().map(|s| s.n)))
}

/// Numbers of runs in few words: `10 runs each`, `2 to 10 runs each`.
#[must_use]
pub fn runs_each(runs: impl Iterator<Item = u32> + Clone) -> String {
    match (runs.clone().min(), runs.max()) {
        (Some(least), Some(most)) if least == most => format!("{} each", count(most, "run")),
        (Some(least), Some(most)) => format!("{least} to {most} runs each"),
        _ => "no runs".to_owned(),
    }
}

/// What all entries have in common of how they were measured; what differs stands in a table of its own.
#[must_use]
pub fn common_setting(comparison: &Comparison) -> String {
    let mut settings = comparison.entries.iter().flat_map(|e| &e.settings);
    let Some(first) = settings.next() else { return "condition unknown".to_owned() };
    let mut common = first.clone();
    for other in settings {
        if common.recipe != other.recipe {
            common.recipe.clear();
        }
        common.size_bytes = common.size_bytes.filter(|bytes| other.size_bytes == Some(*bytes));
        common.condition = shared(&common.condition, &other.condition);
    }
    let words = setting(&common);
    let differing = !comparison.differs.is_empty();
    match (words.is_empty(), differing) {
        (true, _) => "conditions differ".to_owned(),
        (false, true) => format!("{words}; more differs"),
        (false, false) => words,
    }
}

fn shared(one: &Condition, other: &Condition) -> Condition {
    let mut out = Condition::default();
    for (word, value) in one.iter().filter(|(word, value)| other.get(word) == Some(value)) {
        // Who said so is of no matter in a sentence.
        out.set(word, value, Origin::Read);
    }
    out
}

/// Probability by chance alone, as people write it.
#[must_use]
pub fn chance(p: f64) -> String {
    match p {
        p if !p.is_finite() => crate::figure::NONE.to_owned(),
        p if p < 0.001 => "below 0.001".to_owned(),
        p => format!("{p:.3}"),
    }
}

/// A factor's share more or less: `+12.3 %`.
#[must_use]
pub fn percent(percent: f64) -> String {
    if percent.is_finite() { format!("{percent:+.1} %") } else { crate::figure::NONE.to_owned() }
}

/// A pair's interval of the factor, as percent of the first.
#[must_use]
pub fn percent_interval(pair: &Pair) -> String {
    pair.factor_ci95.map(|ends| interval(ends.map(|end| (end - 1.0) * 100.0), percent)).unwrap_or_default()
}

/// What can be said of two entries, by their names.
#[must_use]
pub fn verdict(pair: &Pair, name: impl Fn(usize) -> String) -> String {
    let (first, second) = (name(pair.first), name(pair.second));
    let mut out = match pair.verdict {
        Verdict::FirstFaster => format!("{first} is faster"),
        Verdict::SecondFaster => format!("{second} is faster"),
        Verdict::Alike => format!("{first} and {second} are alike"),
        Verdict::CannotTell => "these two cannot be told apart".to_owned(),
    };
    if let Some(more) = pair.more_runs {
        out.push_str(&format!("; about {} of each may settle it", count(more, "further run")));
    }
    let differs = matches!(pair.verdict, Verdict::FirstFaster | Verdict::SecondFaster);
    if differs && !pair.not_the_card_alone.is_empty() {
        out.push_str(&format!("; not by the card alone: {}", pair.not_the_card_alone.join(", ")));
    }
    out
}

/// A spread that jumps between two levels, in words.
#[must_use]
pub fn levels(spread: &Spread) -> Option<String> {
    let levels = spread.levels?;
    Some(format!(
        "jumps between {} MB/s ({:.0} % of the runs) and {} MB/s",
        speed(levels.low),
        (levels.share_low * 100.0).clamp(0.0, 100.0),
        speed(levels.high)
    ))
}

/// The entries of a test from the fastest down, by their means, with what stands between neighbours: `2 > 1 ? 3`. Empty
/// where fewer than two were measured.
#[must_use]
pub fn order(test: &ComparedTest, name: impl Fn(usize) -> String) -> String {
    let mut measured: Vec<(usize, f64)> =
        test.spreads.iter().enumerate().filter_map(|(i, s)| Some((i, s.as_ref()?.mean))).collect();
    measured.sort_by(|a, b| b.1.total_cmp(&a.1));
    if measured.len() < 2 {
        return String::new();
    }
    let mut out = String::new();
    let mut before: Option<usize> = None;
    for (entry, _) in measured {
        if let Some(before) = before {
            out.push_str(&format!(" {} ", sign(test, before, entry)));
        }
        out.push_str(&name(entry));
        before = Some(entry);
    }
    out
}

/// Between a faster and a slower entry: `>` for sure, `=` alike, `?` not to be told.
fn sign(test: &ComparedTest, faster: usize, slower: usize) -> char {
    let pair = test
        .pairs
        .iter()
        .find(|p| (p.first, p.second) == (faster, slower) || (p.first, p.second) == (slower, faster));
    match pair.map(|p| (p.verdict, p.first)) {
        Some((Verdict::FirstFaster, first)) if first == faster => '>',
        Some((Verdict::SecondFaster, first)) if first == slower => '>',
        Some((Verdict::Alike, _)) => '=',
        _ => '?',
    }
}
