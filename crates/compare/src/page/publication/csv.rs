//! CSV of a publication (RFC 4180): a row for each figure, each place and each figure of a group, with all columns that
//! decide comparability. Text that a spreadsheet would take for a formula is escaped.

use crate::page::comparison::sentences::RunMeasure;
use cardscope_model::card::CardFacts;
use cardscope_model::card_details::CardDetails;
use cardscope_model::card_map::property::Property;
use cardscope_model::comparison::{
    ComparedEntry, ComparedTest, Comparison, EntryLatency, Spread, iops_at_speed,
};
use cardscope_model::condition::WORDS;
use cardscope_model::publication::Publication;
use cardscope_model::ranking::{RankedBy, RankedCard, Ranking, ValueGroup};
use cardscope_model::run::LatencyPercentiles;
use cardscope_model::setting::Setting;
use cardscope_model::units::round_measured as measured_digits;
use cardscope_model::untrusted_text;

/// Columns before the condition: card, settings, test and figure.
const FIRST_COLUMNS: &str = "card,card_id,brand,name,model,generation,capacity,capacity_bytes,firmware,recipe,test_size_bytes,\
                     test,op,step,block_bytes,figure,run,mb_s,iops,printed_value,printed_unit,\
                     latency_us,p50_us,p99_us,p999_us,max_latency_us";

/// Columns after the condition: details of the card.
const DETAIL_COLUMNS: &str = "controller,pcie_link,tmpth_celsius,tmt1_celsius,tmt2_celsius,page_bytes,erase_block_bytes,\
                       open_blocks_linear,open_blocks_random";

/// Last columns: sources, place in a ranking and its context, and value of a group of cards.
const LAST_COLUMNS: &str = "sources,ordered_by,ordered_on,place,tier,probability_best,cards,order_value,order_low,order_high,order_unit,group";

/// Heading of a column, and value.
type CsvCell = (String, String);

fn cell(head: &str, value: impl Into<String>) -> CsvCell {
    (head.to_owned(), value.into())
}

fn column_names() -> Vec<String> {
    let words = WORDS.iter().map(|(word, _)| condition_column(word));
    let given = |heads: &'static str| heads.split(',').map(str::to_owned);
    given(FIRST_COLUMNS).chain(words).chain(given(DETAIL_COLUMNS)).chain(given(LAST_COLUMNS)).collect()
}

fn condition_column(word: &str) -> String {
    format!("condition_{word}")
}

/// Rows: figures, then places, then groups. Cells without a value are blank.
pub(super) fn to_csv(publication: &Publication) -> Result<Vec<u8>, ::csv::Error> {
    // RFC 4180 ends lines with CRLF.
    let mut writer = ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(Vec::new());
    let heads = column_names();
    writer.write_record(&heads)?;
    let rankings = publication.rankings.iter().flat_map(ranking_rows);
    for cells in figure_rows(&publication.comparison).chain(rankings) {
        let value = |head: &String| cells.iter().find(|(of, _)| of == head).map_or("", |(_, value)| value);
        writer.write_record(heads.iter().map(value))?;
    }
    writer.into_inner().map_err(|error| std::io::Error::other(error.to_string()).into())
}

/// Rows for each figure of each test and entry.
fn figure_rows(comparison: &Comparison) -> impl Iterator<Item = Vec<CsvCell>> {
    comparison.tests.iter().flat_map(move |test| {
        comparison.entries.iter().zip(&test.spreads).enumerate().flat_map(move |(at, (entry, spread))| {
            let details = comparison.details.get(&entry.card_id).map(detail_cells).unwrap_or_default();
            let card = [entry_cells(entry), details].concat();
            let rows = spread.iter().flat_map(move |spread| test_rows(test, spread));
            let timed = find_latency(comparison, test, at).map(latency_cells).unwrap_or_default();
            rows.map(move |row| {
                let average = row.iter().any(|(head, value)| head == "figure" && value == "average");
                let timed = if average { timed.clone() } else { Vec::new() };
                [card.clone(), row, timed].concat()
            })
        })
    })
}

/// Latencies of an entry in one test.
fn find_latency<'c>(all: &'c Comparison, test: &ComparedTest, entry: usize) -> Option<&'c EntryLatency> {
    let same = all.latencies.iter().find(|known| (known.test, &known.step) == (test.test, &test.step));
    same?.entries.get(entry)?.as_ref()
}

fn latency_cells(latency: &EntryLatency) -> Vec<CsvCell> {
    let known = |us: Option<f64>| us.map(number_text).unwrap_or_default();
    let LatencyPercentiles { p50, p99, p999 } = latency.percentiles_us;
    let mean = Some(latency.mean_us);
    let heads = ["latency_us", "p50_us", "p99_us", "p999_us", "max_latency_us"];
    heads.into_iter().zip([mean, p50, p99, p999, latency.max_us]).map(|(h, us)| cell(h, known(us))).collect()
}

/// Figures of one test: every run, then their summary.
fn test_rows(test: &ComparedTest, spread: &Spread) -> Vec<Vec<CsvCell>> {
    let runs = spread.runs.iter().enumerate();
    let run = |number: usize| vec![cell("run", number.to_string())];
    let mut all: Vec<Vec<CsvCell>> =
        runs.map(|(i, mb_s)| [figure_cells(test, "run", *mb_s), run(i + 1)].concat()).collect();
    for (measure, what) in RunMeasure::ALL.into_iter().zip(["average", "worst", "best", "median"]) {
        let mut row = figure_cells(test, what, measure.value_in(spread));
        if let Some(own) = spread.as_printed.as_ref().map(|own| measure.printed_in(own)) {
            row.push(cell("printed_value", number_text(own.value)));
            row.push(cell("printed_unit", escape_text(&own.unit)));
        }
        all.push(row);
    }
    let ends = spread.ci95.into_iter().flat_map(|[low, high]| [("ci95_low", low), ("ci95_high", high)]);
    all.extend(ends.map(|(what, mb_s)| figure_cells(test, what, mb_s)));
    all
}

fn figure_cells(test: &ComparedTest, what: &str, mb_s: f64) -> Vec<CsvCell> {
    let pattern = test.test.pattern;
    vec![
        cell("test", pattern.to_string()),
        cell("op", test.test.op.to_string()),
        cell("step", text_or_blank(&test.step)),
        cell("block_bytes", pattern.block.to_string()),
        cell("figure", what),
        cell("mb_s", number_text(mb_s)),
        // An I/O is one block, so both columns agree.
        cell("iops", iops_at_speed(mb_s, pattern.block).map(number_text).unwrap_or_default()),
    ]
}

/// Card, settings and sources of an entry.
fn entry_cells(entry: &ComparedEntry) -> Vec<CsvCell> {
    let joined = |of: &dyn Fn(&Setting) -> Option<String>| {
        let mut all: Vec<String> = entry.settings.iter().filter_map(of).collect();
        all.dedup();
        escape_text(&all.join(" | "))
    };
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes.to_string());
    let CardFacts { brand, name, model, generation, capacity_label, firmware, .. } = &entry.card;
    let facts = ["brand", "name", "model", "generation", "capacity", "firmware"];
    let facts = facts.into_iter().zip([brand, name, model, generation, capacity_label, firmware]);
    let mut cells: Vec<CsvCell> = facts.map(|(head, value)| cell(head, text_or_blank(value))).collect();
    cells.extend([
        cell("card", escape_text(&entry.name)),
        cell("card_id", escape_text(&entry.card_id)),
        cell("capacity_bytes", bytes(entry.card.capacity_bytes).unwrap_or_default()),
        cell("recipe", joined(&|setting| Some(setting.recipe.clone()))),
        cell("test_size_bytes", joined(&|setting| bytes(setting.size_bytes))),
        cell("sources", escape_text(&entry.sources.join(" | "))),
    ]);
    cells.extend(WORDS.iter().map(|(word, _)| {
        (condition_column(word), joined(&|setting| setting.condition.get(word).map(str::to_owned)))
    }));
    cells
}

fn detail_cells(details: &CardDetails) -> Vec<CsvCell> {
    let CardDetails { limits, geometry, .. } = details;
    let celsius = |limit: Option<f64>| limit.map(number_text).unwrap_or_default();
    let geometry = geometry.clone().unwrap_or_default();
    let bytes = |unit: &Property<u64>| unit.value.map(|bytes| bytes.to_string()).unwrap_or_default();
    let open = |blocks: &Property<u32>| blocks.value.map(|blocks| blocks.to_string()).unwrap_or_default();
    vec![
        cell("controller", text_or_blank(&details.controller)),
        cell("pcie_link", text_or_blank(&details.pcie_link)),
        cell("tmpth_celsius", celsius(limits.tmpth_celsius)),
        cell("tmt1_celsius", celsius(limits.tmt1_celsius)),
        cell("tmt2_celsius", celsius(limits.tmt2_celsius)),
        cell("page_bytes", bytes(&geometry.page_bytes)),
        cell("erase_block_bytes", bytes(&geometry.erase_block_bytes)),
        cell("open_blocks_linear", open(&geometry.open_blocks.linear)),
        cell("open_blocks_random", open(&geometry.open_blocks.random)),
    ]
}

/// Rows of a ranking: `place` for each card, then the four figures of each group.
fn ranking_rows(ranking: &Ranking) -> Vec<Vec<CsvCell>> {
    let (by, unit) = match &ranking.by {
        RankedBy::Job(job) => (job.clone(), "points"),
        RankedBy::Test(test) => (test.to_string(), "MB/s"),
    };
    let head = [
        cell("ordered_by", escape_text(&by)),
        cell("ordered_on", text_or_blank(&ranking.on)),
        cell("order_unit", unit),
    ];
    let places = ranking.places.iter().map(place_cells);
    let groups = ranking.groups.iter().flat_map(|groups| &groups.groups);
    places.chain(groups.flat_map(group_rows)).map(|row| [row, head.to_vec()].concat()).collect()
}

fn place_cells(place: &RankedCard) -> Vec<CsvCell> {
    let [low, high] = place.ci95.map_or_else(Default::default, |ends| ends.map(number_text));
    let mut cells = entry_cells(&place.entry);
    cells.extend([
        cell("figure", "place"),
        cell("place", place.placement.place.to_string()),
        cell("tier", place.placement.tier.to_string()),
        cell("probability_best", number_text(place.placement.probability_best)),
        cell("order_value", number_text(place.value)),
        cell("order_low", low),
        cell("order_high", high),
    ]);
    cells
}

fn group_rows(group: &ValueGroup) -> [Vec<CsvCell>; 4] {
    let ValueGroup { mean, median, worst, best, .. } = *group;
    let figures =
        [("group_mean", mean), ("group_median", median), ("group_worst", worst), ("group_best", best)];
    figures.map(|(what, value)| {
        vec![
            cell("figure", what),
            cell("cards", group.cards.to_string()),
            cell("order_value", number_text(value)),
            cell("group", escape_text(&group.name)),
        ]
    })
}

fn text_or_blank(value: &Option<String>) -> String {
    escape_text(value.as_deref().unwrap_or_default())
}

/// Number with the digits that the clock justifies; blank if it is not finite.
fn number_text(value: f64) -> String {
    if value.is_finite() { measured_digits(value).to_string() } else { String::new() }
}

/// Beginnings of a formula for spreadsheets, including East Asian wide forms.
const FORMULA_SIGNS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Escapes text for a spreadsheet: text that begins like a formula, and is not a number, gets an apostrophe in front.
fn escape_text(text: &str) -> String {
    let text = untrusted_text::escape_line(text);
    match text.starts_with(FORMULA_SIGNS) && !text.parse::<f64>().is_ok_and(f64::is_finite) {
        true => format!("'{text}"),
        false => text.into_owned(),
    }
}
