//! A publication as comma-separated values (RFC 4180): one row a figure, with everything beside it that decides what it
//! may be compared with. A text that a spreadsheet would take for a formula is marked as text.

use super::PublishError;
use crate::comparison::tables::as_the_tool_prints;
use crate::comparison::words::Measure;
use cardscope_model::comparison::{ComparedTest, Entry, Spread};
use cardscope_model::condition::WORDS;
use cardscope_model::publication::Publication;
use cardscope_model::result::ToolPrints;
use cardscope_model::units::MB;

/// Columns before those of the condition.
const HEAD: [&str; 17] = [
    "card",
    "card_id",
    "brand",
    "name",
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

/// The rows.
///
/// # Errors
/// Where the writer fails, which memory does not.
pub fn csv(publication: &Publication) -> Result<Vec<u8>, PublishError> {
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    let failed = |error: ::csv::Error| PublishError::Unwritable { format: "CSV", reason: error.to_string() };
    let comparison = &publication.comparison;
    let words = WORDS.iter().map(|(word, _)| format!("condition_{word}"));
    writer
        .write_record(HEAD.iter().map(ToString::to_string).chain(words).chain(["sources".into()]))
        .map_err(failed)?;
    for test in &comparison.tests {
        for (entry, spread) in comparison.entries.iter().zip(&test.spreads) {
            for figure in spread.iter().flat_map(figures) {
                writer.write_record(record(entry, test, &figure)).map_err(failed)?;
            }
        }
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
    let settings = &entry.settings;
    let joined = |of: &dyn Fn(&cardscope_model::comparison::Setting) -> Option<String>| {
        let mut all: Vec<String> = settings.iter().filter_map(of).collect();
        all.dedup();
        text(&all.join(" | "))
    };
    let known = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
    let mut cells = vec![
        text(&entry.name),
        text(&entry.card_id),
        known(&entry.card.brand),
        known(&entry.card.name),
        entry.card.capacity_bytes.map(|bytes| bytes.to_string()).unwrap_or_default(),
        joined(&|setting| Some(setting.recipe.clone())),
        joined(&|setting| setting.size_bytes.map(|bytes| bytes.to_string())),
        test.test.pattern.to_string(),
        test.test.op.to_string(),
        known(&test.step),
        block.to_string(),
        figure.what.to_owned(),
        figure.run.map(|run| run.to_string()).unwrap_or_default(),
        number(figure.mb_s),
        // An I/O is one block, so both columns tell of the same bytes and seconds.
        if block > 0 { number(figure.mb_s * MB / block as f64) } else { String::new() },
        figure.printed.as_ref().map(|own| number(own.value)).unwrap_or_default(),
        figure.printed.as_ref().map(|own| text(&own.unit)).unwrap_or_default(),
    ];
    cells.extend(
        WORDS.iter().map(|(word, _)| joined(&|setting| setting.condition.get(word).map(str::to_owned))),
    );
    cells.push(text(&entry.sources.join(" | ")));
    cells
}

/// A number that scripts read; blank where it is none.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

/// A text that no spreadsheet reckons with: one that begins like a formula gets an apostrophe in front.
fn text(text: &str) -> String {
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r') => format!("'{text}"),
        _ => text.to_owned(),
    }
}
