//! Reviews in lines of key and value, as in `Page size:    4KiB` or `Seq. read:  20.40 MB/s`, with a sweep over block
//! sizes (`  4 KiB =  2.00 MB/s`) and flashbench's own tables below.
//!
//! Units are trusted as printed. flashbench's tables are read by its own importer.

use super::described::described;
use super::markdown::title;
use super::result_list::FORMAT;
use crate::Text;
use crate::amount::{Amount, amount, binary_mb_s, decimal_mb_s, random, seconds, sequential};
use crate::notes::add_note;
use crate::numbers::figure;
use crate::probe::flashbench;
use crate::runs::Runs;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, LogFigure};
use cardscope_model::test_name::{Op, TestName};
use cardscope_model::units::{MIB, parse_size};
use serde_json::{Map, Value, json};

/// Block size of sequential tests that do not tell theirs: where such sweeps are flat.
const UNTOLD_BLOCK: u64 = MIB;

/// True where a sequential speed and a structure of the flash stand in it.
pub(super) fn recognise(text: &Text) -> bool {
    let has =
        |test: fn(&str, &str) -> bool| text.lines().filter_map(pair).any(|(key, value)| test(key, value));
    has(|key, value| key.starts_with("Seq. ") && speed(value).is_some())
        && has(|key, value| structure(key, value).is_some())
}

/// Reads the review; `None` where the page is none.
pub(super) fn read(text: &Text) -> Option<Log> {
    if !recognise(text) {
        return None;
    }
    let mut review = Review::default();
    for line in text.lines() {
        review.line(line);
    }
    Some(review.finish(text))
}

#[derive(Default)]
struct Review {
    runs: Runs,
    map: Map<String, Value>,
    capacity_bytes: Option<u64>,
    /// What the last sentence is about: the sweep below it does the same.
    sweep: Option<Op>,
    block_untold: bool,
}

impl Review {
    fn line(&mut self, line: &str) {
        if let Some((size, value)) =
            line.split_once('=').and_then(|(size, value)| Some((parse_size(size).ok()?, value)))
        {
            self.sweep_row(size, value);
        } else if !pair(line).is_some_and(|(key, value)| self.property(key, value)) {
            self.sentence(line);
        }
    }

    fn sweep_row(&mut self, size: u64, value: &str) {
        if let (Some(op), Some(printed)) = (self.sweep, speed(value)) {
            let result = figure_of(sequential(size, op), printed);
            self.runs.add(LogFigure { step: Some("sweep".to_owned()), ..result });
        }
    }

    /// False where the line is a sentence with a colon in it.
    fn property(&mut self, key: &str, value: &str) -> bool {
        if let Some((name, found)) = structure(key, value) {
            self.map.insert(name.to_owned(), found);
            return true;
        }
        speed(value).is_some_and(|printed| self.speed(key, printed))
    }

    /// `Seq. write, direct`, `Random write  16KiB`.
    fn speed(&mut self, key: &str, printed: Amount<'_>) -> bool {
        let op = if key.contains("write") { Op::Write } else { Op::Read };
        if let Some(test) = key.strip_prefix("Seq. ") {
            self.block_untold = true;
            let result = figure_of(sequential(UNTOLD_BLOCK, op), printed);
            let way = test.split_once(", ").map(|(_, way)| way.to_owned());
            self.runs.add(LogFigure { step: way, ..result });
            return true;
        }
        let size = key.strip_prefix("Random ").and_then(|rest| rest.split_whitespace().next_back());
        let block = size.and_then(|size| parse_size(size).ok());
        block.is_some_and(|block| {
            self.runs.add(figure_of(random(block, 1, op), printed));
            true
        })
    }

    fn sentence(&mut self, line: &str) {
        if let Some(bytes) = line.trim().strip_prefix("$ factor ").and_then(|bytes| bytes.trim().parse().ok())
        {
            self.capacity_bytes = Some(bytes);
        }
        match (line.contains("write"), line.contains("read")) {
            (true, false) => self.sweep = Some(Op::Write),
            (false, true) => self.sweep = Some(Op::Read),
            // Rows that were left out (`...`) end no sweep, other sentences do.
            _ if line.chars().any(char::is_alphabetic) => self.sweep = None,
            _ => {}
        }
    }

    fn finish(self, text: &Text) -> Log {
        let mut log = Log::new(FORMAT);
        let heading = title(text.body()).trim_end_matches("Review").trim();
        log.part = Some(heading.to_owned()).filter(|heading| !heading.is_empty());
        log.card = described(heading).card;
        log.card.capacity_bytes = self.capacity_bytes;
        log.runs = self.runs.finish();
        if !self.map.is_empty() {
            log.other.insert("map".to_owned(), Value::Object(self.map));
        }
        if self.block_untold {
            log.doubts.push(
                "it does not tell the block size of its sequential tests; they are named for 1 MiB"
                    .to_owned(),
            );
        }
        if flashbench::recognise(text) {
            take_flashbench(text, &mut log);
        }
        log
    }
}

fn take_flashbench(text: &Text, log: &mut Log) {
    for part in flashbench::read(text).unwrap_or_default() {
        log.card.complete_from(&part.card);
        log.other.extend(part.other);
        log.doubts.extend(part.doubts);
        if let Some(note) = part.condition.get("note") {
            add_note(&mut log.condition, note, Origin::Stated);
        }
    }
}

/// `Page size:    4KiB`, not indented and without a prompt.
fn pair(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain = key.starts_with(|c: char| c.is_ascii_uppercase()) && key.len() < 40;
    plain.then(|| (key.trim_end(), value.trim()))
}

/// What the flash looks like, in the words of `map --json`.
fn structure(key: &str, value: &str) -> Option<(&'static str, Value)> {
    let measured = |value: Value| json!({ "value": value, "status": "measured" });
    Some(match key {
        "Page size" => ("page_bytes", measured(json!(parse_size(value).ok()?))),
        "Block size" => ("erase_block_bytes", measured(json!(parse_size(value).ok()?))),
        "Open AUs (seq/random)" => {
            let (linear, random) = value.split_once('/')?;
            let count = |text: &str| text.trim().parse::<u32>().ok();
            let (linear, random) = (measured(json!(count(linear)?)), measured(json!(count(random)?)));
            ("open_blocks", json!({ "linear": linear, "random": random }))
        }
        "Read latency" => {
            let time = value.split_whitespace().next()?;
            ("read_latency_us", measured(json!(seconds(time)? * 1e6)))
        }
        _ => return None,
    })
}

/// A speed with a unit that is one.
fn speed(value: &str) -> Option<Amount<'_>> {
    amount(value).filter(|printed| mb_s(printed.unit).is_some())
}

fn mb_s(unit: &str) -> Option<f64> {
    if unit.contains("iB/") { binary_mb_s(unit) } else { decimal_mb_s(unit) }
}

fn figure_of(test: TestName, printed: Amount<'_>) -> LogFigure {
    figure(test, printed.value, printed.unit, mb_s(printed.unit).unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = "\
Example 8GB Class 6 microSD Review

Page size:    8KiB
Block size:   2MiB
Open AUs (seq/random): 3/1
Read latency:          0.2ms (f3probe)
Seq. read:            18.50 MB/s
Seq. write, cache:    ----- MB/s
Seq. write, direct:    9.25 MB/s
Random write   4KiB:   0.75 MB/s
Random write  16KiB:   2.50 MB/s

It becomes slow with small writes: do not buy it.
$ factor 8012390400
Now sequential writes with 'dd':

  4 KiB =  1.00 MB/s
 64 KiB =  6.50 MB/s
...
  4 MiB =  9.25 MB/s

Something else:
  8 MiB =  9.00 MB/s
";

    fn log(text: &str) -> Log {
        read(&Text::of(text)).unwrap()
    }

    #[test]
    fn a_reviewed_card_has_its_structure_and_its_speeds() {
        let log = log(REVIEW);
        let told: Vec<String> = log.runs[0]
            .results
            .iter()
            .map(|r| format!("{} {} {}", r.name(), r.mb_s, r.step.as_deref().unwrap_or("-")))
            .collect();
        assert_eq!(
            told,
            [
                "SEQ1M Q1T1 read 18.5 -",
                "SEQ1M Q1T1 write 9.25 direct",
                "RND4K Q1T1 write 0.75 -",
                "RND16K Q1T1 write 2.5 -",
                "SEQ4K Q1T1 write 1 sweep",
                "SEQ64K Q1T1 write 6.5 sweep",
                "SEQ4M Q1T1 write 9.25 sweep",
            ]
        );
        assert_eq!(log.other["map"]["page_bytes"]["value"], 8192);
        assert_eq!(log.other["map"]["open_blocks"]["random"]["value"], 1);
        assert_eq!(
            (log.card.title().as_str(), log.card.capacity_bytes),
            ("Example 8GB", Some(8_012_390_400))
        );
    }

    #[test]
    fn a_page_with_a_speed_alone_is_no_review() {
        assert!(!recognise(&Text::of("Seq. read: 20.40 MB/s\nPrice: 20 MB")));
        assert!(read(&Text::of("Page size: 4KiB")).is_none());
    }

    #[test]
    fn a_review_cut_off_in_a_line_keeps_those_before() {
        let end = REVIEW.find("0.75 MB/s").unwrap();
        assert_eq!(log(&REVIEW[..end + 6]).runs[0].results.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(\\PC|\\n|Seq. read: |Page size: 4KiB\n|4 KiB = |3 MB/s){0,60}") {
            let _ = read(&Text::of(&text));
        }
    }
}
