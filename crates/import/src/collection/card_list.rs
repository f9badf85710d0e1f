//! A list of cards in JSON, `{"cards": [{"source", "brand", "name", …}]}`, as people note down what pages say of cards.
//!
//! Figures are taken in the unit that the list states: `MB/s` is 10^6, unless it says that they are MiB/s, or the tool is
//! KDiskMark, whose MB/s are KiB/s over 1000 (reference page `peers` 2.3). What is no figure is kept as it stands.

use super::name::card_named;
use super::values::{Named, block, fields, named, number, prices};
use crate::amount::random;
use crate::notes::add_note;
use crate::numbers::{KIB_S, MIB_S, figure};
use crate::runs::Runs;
use crate::{ImportError, Text, json};
use cardscope_model::card::CardFacts;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, LogFigure, LogRun, Tool};
use cardscope_model::test_name::Op;
use cardscope_model::units::parse_size;
use serde_json::{Map, Value};

/// MB/s in one of KDiskMark's.
const KDISKMARK_MB_S: f64 = 1.024;

/// Cards in one list.
const MOST_CARDS: usize = 20_000;

/// Longest text about a card, in characters: a long remark.
const LONGEST_TEXT: usize = 2000;

/// Longest unit, in bytes; every figure carries it.
const LONGEST_UNIT: usize = 40;

/// Marks of one card; no card has room for more.
const MOST_MARKS: usize = 30;

/// Fields of a card that are read; the others are kept as they stand.
const READ: [&str; 14] = [
    "source",
    "brand",
    "name",
    "capacity_label",
    "capacity_bytes",
    "form",
    "firmware",
    "ratings",
    "price",
    "cid",
    "csd",
    "note",
    "results",
    "id",
];

/// True where it is such a list.
pub(crate) fn recognise(text: &Text) -> bool {
    let body = text.body().trim_start();
    // A list that was cut off is one too: reading it says what is wrong.
    body.starts_with('{') && ["\"cards\"", "\"source\""].iter().all(|name| body.contains(name))
}

/// Reads it: a log for each card, and one for each condition under which it has runs.
///
/// # Errors
/// If the JSON is none, or has no cards.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let Some(cards) = cards(text) else {
        let why = "its JSON ends in the middle, or has no list of cards (of at most 20 000)".to_owned();
        return Err(ImportError::Empty { format: "card-list", why });
    };
    Ok(cards.into_iter().flat_map(|card| card.as_object().map(logs).unwrap_or_default()).collect())
}

fn cards(text: &Text) -> Option<Vec<Value>> {
    let body = text.body().trim();
    if !body.starts_with('{') || !body.contains("\"cards\"") {
        return None;
    }
    let cards = match json::whole(body).ok()?.get_mut("cards")?.take() {
        Value::Array(cards) if cards.len() <= MOST_CARDS => cards,
        _ => return None,
    };
    let is_card = |card: &Value| {
        card.get("source").is_some() && (card.get("name").is_some() || card.get("tool").is_some())
    };
    cards.iter().all(is_card).then_some(cards)
}

fn logs(card: &Map<String, Value>) -> Vec<Log> {
    let mut main = log_of(card);
    let mut others = Vec::new();
    let results = card.get("results").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut runs = Runs::default();
    card_figures(card).for_each(|figure| runs.add(figure));
    for result in results {
        if result.get("runs").is_some() {
            others.push(with_runs(&main, result));
        } else if let Some(figure) = single(result) {
            runs.add(figure);
        } else {
            keep(&mut main, "results", result.clone());
        }
    }
    main.runs = runs.finish();
    let says_more = !main.runs.is_empty() || main.other.contains_key("results");
    match others.last_mut().filter(|_| !says_more) {
        // A card whose every result is a log of its own needs none without results.
        Some(last) => (last.events, last.other) = (main.events, main.other),
        None => others.push(main),
    }
    others
}

fn log_of(card: &Map<String, Value>) -> Log {
    let mut log = Log::new("card-list");
    let text = |name: &str| card.get(name).and_then(Value::as_str).map(shortened);
    log.part = text("id").or_else(|| text("name"));
    log.card = facts(card);
    log.events = prices(card.get("price"), text("source").as_deref());
    log.tool = text("tool").map(|name| Tool { name, version: None });
    for (word, field) in
        [("board", "host"), ("reader", "reader"), ("firmware", "firmware"), ("bus_mode", "bus")]
    {
        text(field).into_iter().for_each(|value| log.condition.set(word, value, Origin::Stated));
    }
    if let Some(source) = text("source") {
        add_note(&mut log.condition, &format!("from {source}"), Origin::Stated);
    }
    let figures = fields().map(|(name, _)| name);
    let told =
        card.iter().filter(|(name, _)| !READ.contains(&name.as_str()) && !figures.contains(&name.as_str()));
    let told: Map<String, Value> = told.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !told.is_empty() {
        log.other.insert("told".into(), Value::Object(told));
    }
    log
}

fn facts(card: &Map<String, Value>) -> CardFacts {
    let text = |name: &str| card.get(name).and_then(Value::as_str).map(shortened);
    let ratings = card.get("ratings").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let name = text("name").unwrap_or_default();
    // The name may hold the size: `Ultra 64GB microSDXC`; a brand goes before it so that the first word is one.
    let printed = card_named(&format!("x {name}"));
    CardFacts {
        brand: text("brand"),
        name: printed.name,
        capacity_label: text("capacity_label").or(printed.capacity_label),
        capacity_bytes: card.get("capacity_bytes").and_then(Value::as_u64),
        form: text("form"),
        firmware: text("firmware"),
        cid: text("cid"),
        csd: text("csd"),
        marks: match ratings {
            [] => printed.marks,
            _ => ratings.iter().take(MOST_MARKS).filter_map(Value::as_str).map(shortened).collect(),
        },
        note: text("note"),
        ..CardFacts::default()
    }
}

/// What a list says of a card once and every log of the card carries.
fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

/// Figures that stand in the card itself.
fn card_figures(card: &Map<String, Value>) -> impl Iterator<Item = LogFigure> {
    let unit = card.get("unit").and_then(Value::as_str).unwrap_or("MB/s");
    let mb_s = worth(unit, card.get("tool"));
    let plain =
        fields().into_iter().filter_map(move |(name, test)| made(test, number(card.get(name)), unit, mb_s));
    let by_block =
        [("random_read", Op::Read), ("random_write", Op::Write)].into_iter().flat_map(move |(name, op)| {
            let blocks = card.get(name).and_then(Value::as_object).into_iter().flatten();
            blocks.filter_map(move |(size, value)| {
                made((random(block(size)?, 1, op), None), number(Some(value)), unit, mb_s)
            })
        });
    plain.chain(by_block)
}

/// A result of one test.
fn single(result: &Value) -> Option<LogFigure> {
    let unit = result.get("unit")?.as_str().filter(|unit| unit.contains("/s"))?;
    let test = named(result.get("test")?.as_str()?)?;
    let mut made = made(test, number(result.get("value")), unit, worth(unit, result.get("tool")))?;
    made.step = made.step.or_else(|| result.get("profile")?.as_str().map(str::to_owned));
    Some(made)
}

/// A result of several runs under one condition. What became of the card, and what else is told of it, stands once: in
/// the card's last log.
fn with_runs(main: &Log, result: &Value) -> Log {
    let mut log = Log::new(&main.format);
    (log.part, log.card, log.condition) = (main.part.clone(), main.card.clone(), main.condition.clone());
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    log.tool = text(result, "tool").map(|name| Tool { name, version: None });
    text(result, "cooling")
        .into_iter()
        .for_each(|cooling| log.condition.set("cooling", cooling, Origin::Stated));
    let unit = text(result, "unit").unwrap_or_else(|| "MB/s".to_owned());
    let mb_s = worth(&unit, result.get("tool"));
    let size = result.get("config").and_then(|config| config.get("size")).and_then(Value::as_str);
    let size_bytes = size.and_then(|size| parse_size(size.split_whitespace().next()?).ok());
    let mut runs = Runs::default();
    for run in result.get("runs").and_then(Value::as_array).into_iter().flatten() {
        runs.begin(LogRun { size_bytes, ..LogRun::default() });
        let values = run.get("values").and_then(Value::as_object).into_iter().flatten();
        values
            .filter_map(|(name, value)| made(named(name)?, number(Some(value)), "MB/s", mb_s))
            .for_each(|f| runs.add(f));
    }
    log.runs = runs.finish();
    log
}

fn made((test, step): Named, value: Option<f64>, unit: &str, mb_s: f64) -> Option<LogFigure> {
    let unit = unit.split_whitespace().next().filter(|unit| unit.len() <= LONGEST_UNIT).unwrap_or_default();
    Some(LogFigure { step: step.map(str::to_owned), ..figure(test, value?, unit, mb_s) })
}

/// MB/s in one of the list's unit.
fn worth(unit: &str, tool: Option<&Value>) -> f64 {
    let kdiskmark = tool.and_then(Value::as_str).is_some_and(|tool| tool.starts_with("KDiskMark"));
    match unit {
        _ if unit.contains("MiB/s") => MIB_S,
        _ if unit.starts_with("KiB/s") => KIB_S,
        _ if kdiskmark => KDISKMARK_MB_S,
        _ => 1.0,
    }
}

fn keep(log: &mut Log, name: &str, value: Value) {
    if let Some(list) = log.other.entry(name).or_insert_with(|| Value::Array(Vec::new())).as_array_mut() {
        list.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"about": "x", "cards": [
      {"id": "a", "source": "page 1", "brand": "Example", "name": "Fast 64GB microSDXC", "ratings": ["U3", "A2"], "firmware": "F1",
       "price": [{"value": 9.5, "currency": "EUR", "bought": "2020-02"}],
       "results": [
        {"tool": "cdm_fio", "cooling": "passive", "config": {"size": "1024m"}, "unit": "MB/s as printed; really MiB/s rounded down",
         "runs": [{"run": 1, "values": {"RND4K Q8T8 Write": 100, "SEQ1G Q1T1 Read": 200}}, {"run": 2, "values": {"RND4K Q8T8 Write": 110}}]},
        {"tool": "KDiskMark", "test": "RND4K Q1 write", "profile": "1 GiB", "value": 1.0, "unit": "MB/s"},
        {"tool": "f3probe", "test": "read latency", "value": 0.2, "unit": "ms"}]},
      {"source": "page 2", "brand": "Other", "name": "Slow 8GB", "hdparm": 11.0, "seq_write_direct": 5.5, "seq_write_ext4": ">1",
       "random_write": {"4KiB": 0.5, "512KiB": 4.0}, "unit": "MB/s", "erase_block": "4MiB"}]}"#;

    fn logs(text: &str) -> Vec<Log> {
        read(&Text::of(text)).unwrap()
    }

    #[test]
    fn runs_of_a_condition_are_a_log_of_their_own() {
        let logs = logs(LIST);
        assert_eq!(
            (logs.len(), logs[0].runs.len(), logs[0].condition.get("cooling")),
            (3, 2, Some("passive"))
        );
        assert_eq!(logs[0].runs[0].size_bytes, Some(1 << 30));
        let write = &logs[0].runs[1].results[0];
        assert_eq!((write.name().to_string().as_str(), write.mb_s), ("RND4K Q8T8 write", 110.0 * MIB_S));
    }

    #[test]
    fn single_figures_and_what_is_none_are_told_apart() {
        let logs = logs(LIST);
        let single = &logs[1].runs[0].results[0];
        assert_eq!(
            (single.mb_s, single.step.as_deref(), single.as_printed.unit.as_str()),
            (1.024, Some("1 GiB"), "MB/s")
        );
        assert_eq!(logs[1].other["results"][0]["test"], "read latency");
        assert_eq!(
            (logs[1].card.title().as_str(), logs[1].card.marks.join(" ")),
            ("Example Fast microSDXC 64GB", "U3 A2".to_owned())
        );
        assert_eq!(logs[1].events[0].date.as_deref(), Some("2020-02"));
    }

    #[test]
    fn figures_in_the_card_itself_are_read() {
        let logs = logs(LIST);
        let found: Vec<String> =
            logs[2].runs[0].results.iter().map(|f| format!("{} {:?} {}", f.name(), f.step, f.mb_s)).collect();
        assert_eq!(
            found,
            [
                "SEQ1M Q1T1 write Some(\"direct\") 5.5",
                "RND4K Q1T1 write None 0.5",
                "RND512K Q1T1 write None 4"
            ]
        );
        assert_eq!(
            (logs[2].other["told"]["erase_block"].as_str(), logs[2].other["told"]["hdparm"].as_f64()),
            (Some("4MiB"), Some(11.0))
        );
    }

    #[test]
    fn what_is_told_of_a_card_stands_once_however_many_logs_it_has() {
        let run = r#"{"tool": "x", "runs": [{"values": {"RND4K Q1T1 Read": 5}}]}"#;
        let price = r#"[{"value": 9.5, "currency": "EUR", "bought": "2020-02"}]"#;
        let logs = logs(&format!(
            r#"{{"cards": [{{"source": "p", "name": "n", "price": {price}, "plane": 7, "results": [{run}, {run}]}}]}}"#
        ));
        let told: Vec<_> =
            logs.iter().map(|log| (log.events.len(), log.other.len(), log.runs.len())).collect();
        assert_eq!(told, [(0, 0, 1), (1, 1, 1)]);
    }

    #[test]
    fn a_list_cut_in_the_middle_says_so() {
        let cut = Text::of(&LIST[..LIST.len() - 9]);
        assert!(recognise(&cut));
        assert!(read(&cut).unwrap_err().to_string().contains("ends in the middle"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(\\{\"cards\": \\[|\\{\"source\": \"x\", \"name\": \"y\"|, \"price\": |, \"results\": \\[|\"unit\": \"MB/s\"|[0-9.e]{1,6}|[\\]\\}\",:]|[ -~]){0,16}") {
            let _ = (recognise(&Text::of(&text)), read(&Text::of(&text)));
        }
    }
}
