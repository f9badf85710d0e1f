//! A publication as comma-separated values (RFC 4180): one row a figure, a place or a figure of a
//! group, with everything beside it that decides what it may be compared with. A text that a
//! spreadsheet would take for a formula is marked as text.

use super::PublishError;
use crate::comparison::tables::as_the_tool_prints;
use crate::comparison::words::Measure;
use cardscope_model::comparison::{ComparedTest, Entry, Spread, iops};
use cardscope_model::condition::WORDS;
use cardscope_model::outside;
use cardscope_model::publication::Publication;
use cardscope_model::ranking::{Group, RankedBy, RankedCard, Ranking};
use cardscope_model::result::ToolPrints;

/// Columns before those of the condition.
const HEAD: [&str; 20] = [
    "card",
    "card_id",
    "brand",
    "name",
    "model",
    "generation",
    "capacity",
    "capacity_bytes",
    "recipe",
    "test_size_bytes",
    "test",
    "op",
    "step",
    "block_bytes",
    "figure",
    "run",
    "mb_s",
    "iops",
    "printed_value",
    "printed_unit",
];

/// Columns behind the sources: what a card's place in an order is and how many share it, and what a group of so many cards
/// is worth.
const ORDER: [&str; 9] = [
    "ordered_by",
    "ordered_on",
    "place",
    "cards",
    "order_value",
    "order_low",
    "order_high",
    "order_unit",
    "group",
];

/// The rows: figures, then places, then groups. What a row has nothing for is blank.
///
/// # Errors
/// Where the writer fails, which memory does not.
pub fn csv(publication: &Publication) -> Result<Vec<u8>, PublishError> {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    let failed = |error: ::csv::Error| PublishError::Unwritable { format: "CSV", reason: error.to_string() };
    let comparison = &publication.comparison;
    let words = WORDS.iter().map(|(word, _)| format!("condition_{word}"));
    writer
        .write_record(
            HEAD.iter()
                .map(ToString::to_string)
                .chain(words)
                .chain(["sources".into()])
                .chain(ORDER.map(str::to_owned)),
        )
        .map_err(failed)?;
    for test in &comparison.tests {
        for (entry, spread) in comparison.entries.iter().zip(&test.spreads) {
            for figure in spread.iter().flat_map(figures) {
                let cells = record(entry, test, &figure).into_iter().chain(ORDER.map(|_| String::new()));
                writer.write_record(cells).map_err(failed)?;
            }
        }
    }
    for cells in publication.rankings.iter().flat_map(order) {
        writer.write_record(cells).map_err(failed)?;
    }
    writer.into_inner().map_err(|error| PublishError::Unwritable { format: "CSV", reason: error.to_string() })
}

/// One figure of one test.
struct Figure {
    what: &'static str,
    run: Option<usize>,
    mb_s: f64,
    printed: Option<ToolPrints>,
}

fn figures(spread: &Spread) -> Vec<Figure> {
    let runs = spread.runs.iter().enumerate();
    let mut all: Vec<Figure> =
        runs.map(|(i, mb_s)| Figure { what: "run", run: Some(i + 1), mb_s: *mb_s, printed: None }).collect();
    for (measure, what) in Measure::ALL.into_iter().zip(["average", "worst", "best", "median"]) {
        let printed = spread.as_printed.as_ref().map(|own| as_the_tool_prints(own, measure).clone());
        all.push(Figure { what, run: None, mb_s: measure.of(spread), printed });
    }
    let ends = spread.ci95.into_iter().flat_map(|[low, high]| [("ci95_low", low), ("ci95_high", high)]);
    all.extend(ends.map(|(what, mb_s)| Figure { what, run: None, mb_s, printed: None }));
    all
}

fn record(entry: &Entry, test: &ComparedTest, figure: &Figure) -> Vec<String> {
    let block = test.test.pattern.block;
    let of_test = [
        test.test.pattern.to_string(),
        test.test.op.to_string(),
        known(&test.step),
        block.to_string(),
        figure.what.to_owned(),
        figure.run.map(|run| run.to_string()).unwrap_or_default(),
        number(figure.mb_s),
        // An I/O is one block, so both columns tell of the same bytes and seconds.
        iops(figure.mb_s, block).map(number).unwrap_or_default(),
        figure.printed.as_ref().map(|own| number(own.value)).unwrap_or_default(),
        figure.printed.as_ref().map(|own| text(&own.unit)).unwrap_or_default(),
    ];
    around(entry, of_test)
}

/// Cells of a test between those of the card and those of its settings.
fn around(entry: &Entry, of_test: [String; 10]) -> Vec<String> {
    let settings = &entry.settings;
    let joined = |of: &dyn Fn(&cardscope_model::setting::Setting) -> Option<String>| {
        let mut all: Vec<String> = settings.iter().filter_map(of).collect();
        all.dedup();
        text(&all.join(" | "))
    };
    let mut cells = vec![
        text(&entry.name),
        text(&entry.card_id),
        known(&entry.card.brand),
        known(&entry.card.name),
        known(&entry.card.model),
        known(&entry.card.generation),
        known(&entry.card.capacity_label),
        entry.card.capacity_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
        joined(&|setting| Some(setting.recipe.clone())),
        joined(&|setting| setting.size_bytes.map(|bytes| bytes.to_string())),
    ];
    cells.extend(of_test);
    cells.extend(
        WORDS.iter().map(|(word, _)| joined(&|setting| setting.condition.get(word).map(str::to_owned))),
    );
    cells.push(text(&entry.sources.join(" | ")));
    cells
}

/// The rows of an order: `place` for each card, then the four figures of each group.
fn order(ranking: &Ranking) -> Vec<Vec<String>> {
    let by = match &ranking.by {
        RankedBy::Job(job) => job.clone(),
        RankedBy::Test(test) => test.to_string(),
    };
    let head = [text(&by), known(&ranking.on)];
    let unit = if matches!(ranking.by, RankedBy::Job(_)) { "points" } else { "MB/s" };
    let places = ranking.places.iter().map(|place| of_place(place, &head, unit));
    let groups = ranking.groups.iter().flat_map(|groups| &groups.groups);
    places.chain(groups.flat_map(|group| of_group(group, &head, unit))).collect()
}

fn of_place(place: &RankedCard, head: &[String; 2], unit: &str) -> Vec<String> {
    let mut of_test: [String; 10] = Default::default();
    of_test[FIGURE - BEFORE_TEST] = "place".to_owned();
    let [low, high] = place.ci95.map_or_else(Default::default, |ends| ends.map(number));
    let own = [
        place.place.to_string(),
        place.shared_by.to_string(),
        number(place.value),
        low,
        high,
        unit.to_owned(),
        String::new(),
    ];
    around(&place.entry, of_test).into_iter().chain(head.clone()).chain(own).collect()
}

fn of_group(group: &Group, head: &[String; 2], unit: &str) -> [Vec<String>; 4] {
    let figures = [
        ("group_mean", group.mean),
        ("group_median", group.median),
        ("group_worst", group.worst),
        ("group_best", group.best),
    ];
    figures.map(|(what, value)| {
        let mut cells = vec![String::new(); HEAD.len() + WORDS.len() + 1];
        cells[FIGURE] = what.to_owned();
        cells.extend(head.clone());
        let blank = String::new;
        cells.extend([blank(), group.cards.to_string(), number(value), blank(), blank()]);
        cells.extend([unit.to_owned(), text(&group.name)]);
        cells
    })
}

/// Columns of the card, before those of the test.
const BEFORE_TEST: usize = 10;
const _: () = assert!(matches!(HEAD[BEFORE_TEST].as_bytes(), b"test"));

/// Which of the columns says what a row is.
const FIGURE: usize = 14;
const _: () = assert!(matches!(HEAD[FIGURE].as_bytes(), b"figure"));

fn known(value: &Option<String>) -> String {
    text(value.as_deref().unwrap_or_default())
}

/// A number that scripts read; blank where it is none.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// What a spreadsheet takes for the beginning of a formula; those of East Asian width, too.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// A text in its own cell that no spreadsheet reckons with: one that begins like a formula, and is not a number, gets an
/// apostrophe in front.
fn text(text: &str) -> String {
    let text = outside::line(text);
    match text.starts_with(FORMULA) && !text.parse::<f64>().is_ok_and(f64::is_finite) {
        true => format!("'{text}"),
        false => text.into_owned(),
    }
}
