//! Sentences on entries and pairs, the same for terminal, Markdown and HTML.

use cardscope_model::comparison::{
    AreaEffect, ChanceGrade, ComparedEntry, ComparedPair, ComparedTest, Comparison, LevelPair, PairVerdict,
    PrintedSpread, Spread, TestRange,
};
use cardscope_model::condition::{Condition, ConditionOrigin, word_in_sentence};
use cardscope_model::result::ToolPrints;
use cardscope_model::setting::Setting;
use cardscope_model::statistics::distinct_values;
use cardscope_model::test_name::TestName;
use cardscope_model::units::{BinarySize, NO_NUMBER, three_digits, three_digits as speed};
use cardscope_page::figure::{condition_line, interval_text, join_names, pluralize, test_with_step};

/// Pairs of equal cards of which one differs by chance, at 95 % confidence.
const PAIRS_PER_FALSE_ONE: usize = 20;

/// Most entries with a column each; more have a row each, and too many pairs to read.
pub(super) const MOST_COLUMNS: usize = 8;

/// Entries from which a few tests are better laid out with a row for each entry.
const LEAST_ROWS: usize = 5;

/// True if tables of speeds have a row for each entry instead of a column.
pub(super) fn has_entry_rows(comparison: &Comparison) -> bool {
    let entries = comparison.entries.len();
    entries > MOST_COLUMNS || (entries >= LEAST_ROWS && comparison.tests.len() < entries)
}

/// True if averages are shown with their intervals, which do not fit for many entries.
pub(super) fn has_intervals(comparison: &Comparison) -> bool {
    !has_entry_rows(comparison) || comparison.entries.len() <= MOST_COLUMNS
}

/// Figure of a test that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunMeasure {
    Average,
    Worst,
    Best,
    Median,
}

impl RunMeasure {
    /// All figures in the order in which they are shown.
    pub const ALL: [RunMeasure; 4] =
        [RunMeasure::Average, RunMeasure::Worst, RunMeasure::Best, RunMeasure::Median];

    pub fn word(self) -> &'static str {
        self.pick(["Average", "Worst", "Best", "Median"])
    }

    /// Meaning, for a sentence.
    pub fn meaning(self) -> &'static str {
        self.pick(["the mean of all runs", "the slowest run", "the fastest run", "the run in the middle"])
    }

    /// MB/s.
    pub fn value_in(self, spread: &Spread) -> f64 {
        self.pick([spread.mean, spread.worst, spread.best, spread.median])
    }

    /// Figure as the tool printed it.
    pub fn printed_in(self, own: &PrintedSpread) -> &ToolPrints {
        self.pick([&own.mean, &own.worst, &own.best, &own.median])
    }

    /// Value of this figure among those of [`Self::ALL`].
    fn pick<T: Copy>(self, values: [T; 4]) -> T {
        values[self as usize]
    }
}

/// Name of a test, with its step if the recipe has the test twice.
pub fn test_title(test: &ComparedTest) -> String {
    test_with_step(test.test, test.step.as_deref())
}

/// Setting in one line: `cdm8-default · 1 GiB · cooling active`.
pub fn setting_line(setting: &Setting) -> String {
    let mut words = vec![setting.recipe.clone()];
    words.extend(setting.size_bytes.map(|bytes| BinarySize(bytes).to_string()));
    words.push(condition_line(&setting.condition));
    words.retain(|word| !word.trim().is_empty());
    words.join(" · ")
}

/// Settings of an entry in one line.
pub fn setting_lines(entry: &ComparedEntry) -> String {
    entry.settings.iter().map(setting_line).collect::<Vec<_>>().join(" | ")
}

/// Amount of measurements of an entry: `10 runs in 2 sessions of 1 card, 2025-05-01 to 2025-05-17`.
pub fn measured_amount(entry: &ComparedEntry) -> String {
    let (runs, sessions) = (pluralize(entry.runs, "run"), pluralize(entry.sessions, "session"));
    let days = match &entry.measured {
        Some([first, last]) if first == last => format!(", {first}"),
        Some([first, last]) => format!(", {first} to {last}"),
        None => String::new(),
    };
    format!("{runs} in {sessions} of {}{days}", pluralize(entry.specimens, "card"))
}

/// Runs of all entries, for the caption of a chart: `10 runs each`, `2 to 10 runs each`.
pub fn run_range(comparison: &Comparison) -> String {
    range_of_runs(comparison.tests.iter().flat_map(|t| t.spreads.iter().flatten().map(|s| s.n)))
}

/// Range of run counts: `10 runs each`, `2 to 10 runs each`.
pub fn range_of_runs(runs: impl Iterator<Item = u32> + Clone) -> String {
    match (runs.clone().min(), runs.max()) {
        (Some(least), Some(most)) if least == most => format!("{} each", pluralize(most, "run")),
        (Some(least), Some(most)) => format!("{least} to {most} runs each"),
        _ => "no runs".to_owned(),
    }
}

/// Conditions that all entries share.
pub fn common_setting(comparison: &Comparison) -> String {
    shared_conditions(&comparison.entries.iter().collect::<Vec<_>>(), !comparison.differs.is_empty())
}

/// Conditions that these entries share; `differing` if more differs than their settings show.
pub fn shared_conditions(entries: &[&ComparedEntry], differing: bool) -> String {
    let mut settings = entries.iter().flat_map(|e| &e.settings);
    let Some(first) = settings.next() else { return "condition unknown".to_owned() };
    let mut common = first.clone();
    for other in settings {
        if common.recipe != other.recipe {
            common.recipe.clear();
        }
        common.size_bytes = common.size_bytes.filter(|bytes| other.size_bytes == Some(*bytes));
        common.condition = shared_words(&common.condition, &other.condition);
    }
    let words = setting_line(&common);
    let mut settings = entries.iter().flat_map(|e| &e.settings);
    match differing || settings.any(|other| !is_same_setting(other, &common)) {
        _ if words.is_empty() => "conditions differ".to_owned(),
        true => format!("{words}; other settings differ"),
        false => words,
    }
}

/// True if two settings are equal except for the origin of their words.
fn is_same_setting(one: &Setting, other: &Setting) -> bool {
    (&one.recipe, one.size_bytes) == (&other.recipe, other.size_bytes)
        && one.condition.iter().eq(other.condition.iter())
}

fn shared_words(one: &Condition, other: &Condition) -> Condition {
    let mut out = Condition::default();
    for (word, value) in one.iter().filter(|(word, value)| other.get(word) == Some(value)) {
        // The origin does not appear in the sentence.
        out.set(word, value, ConditionOrigin::Read);
    }
    out
}

/// Probability by chance alone.
pub fn p_value_text(p: f64) -> String {
    match p {
        p if !p.is_finite() => NO_NUMBER.to_owned(),
        p if p < 0.001 => "below 0.001".to_owned(),
        p => format!("{p:.3}"),
    }
}

/// Difference of the second entry: `+12.3 %`, from a ratio of 2 with the ratio: `+140.0 % (×2.4)`.
pub fn relative_speed(pair: &ComparedPair) -> String {
    let percent = signed_percent(pair.percent);
    match large_ratio(pair.factor) {
        Some(times) => format!("{percent} ({times})"),
        None => percent,
    }
}

/// A ratio of at least 2 in either direction, with three digits: `×301`, `÷2.5`.
fn large_ratio(factor: f64) -> Option<String> {
    let (sign, factor) = if factor < 1.0 { ('÷', 1.0 / factor) } else { ('×', factor) };
    (factor.is_finite() && factor >= 2.0).then(|| format!("{sign}{}", three_digits(factor)))
}

/// Counts the pairs of all tests by their grade, and the significant ones; `None` without pairs. p is corrected for the tests
/// of two cards, so of pairs of equal cards one in twenty may still differ in some test.
pub fn count_pairs(comparison: &Comparison) -> Option<String> {
    let pairs = || comparison.tests.iter().flat_map(|test| &test.pairs);
    let cards = pairs().map(|p| (p.first, p.second)).collect::<std::collections::BTreeSet<_>>().len();
    let by_chance = cards / PAIRS_PER_FALSE_ONE;
    let chance = match by_chance {
        0 => String::new(),
        n => format!(" By chance alone, up to {n} of {cards} pairs of cards would differ in some test."),
    };
    let graded = |g: ChanceGrade| pairs().filter(|p| p.grade == g && p.verdict != PairVerdict::Alike).count();
    let significant = pairs().filter(|p| is_significant(p)).count();
    // Without any significant pair, the chance of false ones does not matter.
    let unread = comparison.entries.len() > MOST_COLUMNS && significant == 0;
    (cards > 0 && !unread).then(|| {
        let found = [
            (graded(ChanceGrade::AlmostCertain), "almost certain"),
            (graded(ChanceGrade::Likely), "likely"),
            (graded(ChanceGrade::Leans), "leaning"),
            (graded(ChanceGrade::Even), "even"),
            (pairs().filter(|p| p.verdict == PairVerdict::Alike).count(), "equal"),
        ];
        let found = found.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let all = pluralize(pairs().count() as u32, "comparison");
        let found = found.collect::<Vec<_>>().join(", ");
        format!("{all} of two cards in one test: {found}; {significant} significant.{chance}")
    })
}

/// Least ratio between the fastest and the slowest card that is worth a sentence.
const LEAST_FOLD: f64 = 2.0;

/// Tests in which cards differ most and least: `RND4K Q1T1 write differs most between the 20 cards, 301-fold; SEQ1M Q1T1 read
/// least, 7.09-fold.`
pub fn widest_test(comparison: &Comparison) -> Option<String> {
    let of_most = comparison.apart.iter().map(|apart| apart.cards).max()?;
    let all = || comparison.apart.iter().filter(|apart| apart.cards == of_most);
    let most = all().max_by(|a, b| a.factor.total_cmp(&b.factor)).filter(|most| most.factor >= LEAST_FOLD)?;
    let least = all().min_by(|a, b| a.factor.total_cmp(&b.factor))?;
    let name = |apart: &TestRange| test_with_step(apart.test, apart.step.as_deref());
    let fold = |apart: &TestRange| format!("{}-fold", fold_text(apart.factor));
    let closest = match all().count() {
        1 => String::new(),
        _ => format!("; {} least, {}", name(least), fold(least)),
    };
    Some(format!("{} differs most between the {of_most} cards, {}{closest}.", name(most), fold(most)))
}

/// A ratio with three digits: 7.09, 301, 2060.
pub(super) fn fold_text(factor: f64) -> String {
    if factor < 1000.0 { three_digits(factor) } else { format!("{:.0}", three_rounded(factor)) }
}

fn three_rounded(factor: f64) -> f64 {
    let step = 10_f64.powf(factor.log10().floor() - 2.0);
    (factor / step).round() * step
}

/// Speed over a large area as a share of that over a small one: below the first it is slower, above the second it holds.
const SLOWER_SHARE: f64 = 0.8;
const HOLDING_SHARE: f64 = 0.95;

/// Effect of a large test area: the test that falls on most cards, and the number of tests that hold on all.
pub fn area_effect_sentence(comparison: &Comparison) -> Option<String> {
    let cards = distinct_values(comparison.areas.iter().map(|effect| &effect.name)).len();
    let tests = distinct_values(comparison.areas.iter().map(|effect| (effect.test, effect.step.clone())));
    let of = |(test, step): &(TestName, Option<String>)| -> Vec<&AreaEffect> {
        comparison.areas.iter().filter(|effect| effect.test == *test && effect.step == *step).collect()
    };
    let fallen = |t| of(t).into_iter().filter(|e| e.large_area_share() < SLOWER_SHARE).collect::<Vec<_>>();
    let deepest = |fallen: &[&AreaEffect]| fallen.iter().map(|e| e.large_area_share()).fold(1.0, f64::min);
    let sizes = distinct_values(comparison.areas.iter().map(|effect| effect.bytes));
    let over = match &sizes[..] {
        [[small, large]] => format!("Over {} instead of {}", BinarySize(*large), BinarySize(*small)),
        _ => "Over a large area instead of a small one".to_owned(),
    };
    let all: Vec<(String, Vec<&AreaEffect>)> =
        tests.iter().map(|test| (test_with_step(test.0, test.1.as_deref()), fallen(test))).collect();
    let more =
        |a: &[&AreaEffect], b: &[&AreaEffect]| a.len().cmp(&b.len()).then(deepest(b).total_cmp(&deepest(a)));
    let (name, fallen) = all.iter().max_by(|a, b| more(&a.1, &b.1))?;
    if fallen.is_empty() {
        let are = if cards == 1 { "the card is" } else { "all cards are about" };
        return Some(format!("{over}, {are} as fast."));
    }
    let percent = |share: f64| format!("{:.0}", 100.0 * (1.0 - share));
    let highest = fallen.iter().map(|e| e.large_area_share()).fold(0.0, f64::max);
    let [least, most] = [highest, deepest(fallen)].map(percent);
    let by = if least == most { format!("{most} %") } else { format!("{least} to {most} %") };
    let holds = |t: &&(TestName, Option<String>)| of(t).iter().all(|e| e.large_area_share() > HOLDING_SHARE);
    let hold = match tests.iter().filter(holds).count() {
        0 => String::new(),
        n => {
            let holds = if n == 1 { "holds" } else { "hold" };
            format!("; {n} of {} {holds} on every card", pluralize(tests.len() as u64, "test"))
        }
    };
    let (fallen, cards) = (fallen.len(), pluralize(cards as u64, "card"));
    Some(format!("{over}, {name} falls on {fallen} of {cards} by {by}{hold}."))
}

/// True if the difference of a pair is significant after correction.
fn is_significant(pair: &ComparedPair) -> bool {
    matches!(pair.verdict, PairVerdict::FirstFaster | PairVerdict::SecondFaster)
}

/// Relative difference: `+12.3 %`.
pub fn signed_percent(percent: f64) -> String {
    if percent.is_finite() { format!("{percent:+.1} %") } else { NO_NUMBER.to_owned() }
}

/// Interval of a pair's ratio, as percent of the first entry.
pub fn percent_interval(pair: &ComparedPair) -> String {
    let percent = |ends: [f64; 2]| interval_text(ends.map(|end| (end - 1.0) * 100.0), signed_percent);
    pair.factor_ci95.map(percent).unwrap_or_default()
}

/// Result for two entries, by their names.
pub fn pair_result(pair: &ComparedPair, name: impl Fn(usize) -> String) -> String {
    let faster = if pair.probability_first_faster > 0.5 { pair.first } else { pair.second };
    let (faster, chance) = (name(faster), cardscope_page::figure::percent(pair.probability_notable));
    let mut out = match (pair.verdict, pair.grade) {
        (PairVerdict::Alike, _) => format!("{} and {} are equal", name(pair.first), name(pair.second)),
        (_, ChanceGrade::Even) => format!("even ({chance})"),
        (_, ChanceGrade::Leans) => format!("leans to {faster} ({chance})"),
        (_, ChanceGrade::Likely) => format!("{faster} likely faster ({chance})"),
        (_, ChanceGrade::AlmostCertain) => format!("{faster} almost certainly faster ({chance})"),
    };
    if is_significant(pair) {
        out.push_str(", significant");
    }
    if !pair.confounded_by.is_empty() {
        let words: Vec<String> = pair.confounded_by.iter().map(|word| word_in_sentence(word)).collect();
        out.push_str(&format!("; confounded by {}", join_names(&words)));
    }
    if let Some(levels) = pair.levels {
        out.push_str(&format!("; {}", level_phrase(levels)));
    }
    if let Some(more) = pair.more_runs {
        out.push_str(&format!("; about {} of each may decide it", pluralize(more, "further run")));
    }
    out
}

/// Levels of two alternating cards: `fast level +1.2 %, slow level −3.0 %, 60 % against 70 % of the runs slow`.
fn level_phrase(levels: LevelPair) -> String {
    let [fast, slow] = [levels.high_factor, levels.low_factor].map(|f| signed_percent((f - 1.0) * 100.0));
    let [first, second] = levels.share_low.map(cardscope_page::figure::percent);
    format!("fast level {fast}, slow level {slow}, {first} against {second} of the runs slow")
}

/// Phrase for a speed that alternates between two levels.
pub fn two_level_phrase(spread: &Spread) -> Option<String> {
    let levels = spread.levels?;
    let (low, high, share) = (speed(levels.low), speed(levels.high), levels.share_low * 100.0);
    Some(format!("jumps between {low} MB/s ({:.0} % of the runs) and {high} MB/s", share.clamp(0.0, 100.0)))
}

/// Sentences for all speeds that alternate between two levels.
pub fn two_level_sentences(comparison: &Comparison) -> Vec<String> {
    let all = comparison.tests.iter().flat_map(|test| {
        comparison.entries.iter().zip(&test.spreads).filter_map(move |(entry, spread)| {
            let words = two_level_phrase(spread.as_ref()?)?;
            Some(format!("{} of {} {words}.", self::test_title(test), entry.name))
        })
    });
    all.collect()
}

/// Entries of a test by their means, fastest first, with signs between them: `2 > 1 ? 3`. Empty for fewer than two.
pub fn order_with_signs(test: &ComparedTest, name: impl Fn(usize) -> String) -> String {
    let mut measured: Vec<(usize, f64)> =
        test.spreads.iter().enumerate().filter_map(|(i, s)| Some((i, s.as_ref()?.mean))).collect();
    measured.sort_by(|a, b| b.1.total_cmp(&a.1));
    let slower = |pair: &[(usize, f64)]| {
        let (before, entry) = (pair[0].0, pair[1].0);
        format!(" {} {}", order_sign(test, before, entry), name(entry))
    };
    match measured.first() {
        Some((fastest, _)) if measured.len() > 1 => {
            name(*fastest) + &measured.windows(2).map(slower).collect::<String>()
        }
        _ => String::new(),
    }
}

/// Sign between a faster and a slower entry: `>` likely or surer, `=` equal, `?` open.
fn order_sign(test: &ComparedTest, faster: usize, slower: usize) -> char {
    let both = [(faster, slower), (slower, faster)];
    let pair = test.pairs.iter().find(|p| both.contains(&(p.first, p.second)));
    let Some(pair) = pair else { return '?' };
    let first_leads = pair.probability_first_faster > 0.5;
    match pair.verdict {
        PairVerdict::Alike => '=',
        _ if pair.grade >= ChanceGrade::Likely && first_leads == (pair.first == faster) => '>',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples as sample;

    #[test]
    fn large_ratios_are_added_to_percentages() {
        let written = [301.2, 12.34, 2.4, 1.9, 0.51, 0.5, 0.003_32].map(large_ratio);
        let expected = [Some("×301"), Some("×12.3"), Some("×2.40"), None, None, Some("÷2.00"), Some("÷301")];
        assert_eq!(written.each_ref().map(Option::as_deref), expected);
        assert_eq!([f64::NAN, f64::INFINITY, 0.0].map(large_ratio), [None, None, None]);
        let mut pair = sample::comparison(2, 2, 1).tests[0].pairs[0].clone();
        (pair.factor, pair.percent) = (301.2, 30_020.0);
        assert_eq!(relative_speed(&pair), "+30020.0 % (×301)");
    }

    #[test]
    fn widest_and_closest_test_are_named() {
        let mut comparison = sample::comparison(20, 2, 2);
        comparison.apart.iter_mut().for_each(|apart| apart.cards = 20);
        (comparison.apart[0].factor, comparison.apart[1].factor) = (7.093, 301.2);
        let said =
            "RND4K Q1T1 read differs most between the 20 cards, 301-fold; SEQ1M Q8T1 read least, 7.09-fold.";
        let [read, small] = [0, 1].map(|at| test_with_step(comparison.apart[at].test, None));
        let said = said.replace("RND4K Q1T1 read", &small).replace("SEQ1M Q8T1 read", &read);
        assert_eq!(widest_test(&comparison).as_deref(), Some(said.as_str()));
        comparison.apart[1].factor = 1.4;
        comparison.apart[0].factor = 1.2;
        assert_eq!(widest_test(&comparison), None, "cards that are alike");
        assert_eq!(fold_text(162_556.0), "163000");
    }

    #[test]
    fn area_effect_is_one_sentence() {
        let mut comparison = sample::comparison(2, 1, 1);
        let effect = |name: &str, test: &str, share: f64| AreaEffect {
            name: name.to_owned(),
            test: test.parse().unwrap(),
            step: None,
            bytes: [1 << 26, 1 << 30],
            mb_s: [2.0, 2.0 * share],
        };
        let (read, write) = ("SEQ1M Q1T1 read", "RND4K Q1T1 write");
        comparison.areas = vec![
            effect("A", read, 1.0),
            effect("A", write, 0.1),
            effect("B", read, 0.99),
            effect("B", write, 0.38),
        ];
        let said = "Over 1 GiB instead of 64 MiB, RND4K Q1T1 write falls on 2 of 2 cards by 62 to 90 %; 1 of 2 tests \
                    holds on every card.";
        assert_eq!(area_effect_sentence(&comparison).as_deref(), Some(said));
        comparison.areas.retain(|effect| effect.large_area_share() > 0.9);
        let said = "Over 1 GiB instead of 64 MiB, all cards are about as fast.";
        assert_eq!(area_effect_sentence(&comparison).as_deref(), Some(said));
    }

    #[test]
    fn count_of_many_pairs_states_expected_false_ones() {
        assert!(!count_pairs(&sample::comparison(6, 2, 1)).unwrap().contains("By chance"), "15 pairs");
        let many = count_pairs(&sample::comparison(20, 2, 2)).unwrap();
        assert!(
            many.ends_with("By chance alone, up to 9 of 190 pairs of cards would differ in some test."),
            "{many}"
        );
        assert_eq!(count_pairs(&sample::comparison(1, 2, 2)), None);
    }
}
