//! A list of what f3 and H2testw said elsewhere, in JSON: `{"results": [{"source", "tool", "announced_blocks", …}]}`.
//!
//! Speeds are in the tools' MB/s and MByte/s, so MiB/s; blocks and sectors are of 512 bytes, as f3 counts them where
//! nothing else is said.

use super::values::number;
use crate::amount::{Amount, sequential, step};
use crate::numbers::MIB_S;
use crate::{ImportError, Text, json};
use cardscope_model::log::{Log, LogRun, Tool};
use cardscope_model::test_name::Op;
use cardscope_model::units::MIB;
use cardscope_model::verify::Verdict;
use serde_json::{Map, Value, json};

/// Results in one list.
const MOST_RESULTS: usize = 20_000;

/// Bytes of f3's sectors.
const SECTOR: u64 = 512;

/// True where it is such a list.
pub(crate) fn recognise(text: &Text) -> bool {
    results(text).is_some()
}

/// Reads it: each result is a log.
///
/// # Errors
/// If the JSON is none.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let Some(results) = results(text) else {
        let why = "its JSON has no list of results".to_owned();
        return Err(ImportError::Empty { format: "f3-facts", why });
    };
    Ok(results.into_iter().filter_map(|result| result.as_object().map(log)).collect())
}

fn results(text: &Text) -> Option<Vec<Value>> {
    let body = text.body().trim();
    if !body.starts_with('{') || !body.contains("\"results\"") || !body.contains("\"tool\"") {
        return None;
    }
    let results = match json::whole(body).ok()?.get_mut("results")?.take() {
        Value::Array(results) if (1..=MOST_RESULTS).contains(&results.len()) => results,
        _ => return None,
    };
    let tool = |result: &Value| result.get("tool").and_then(Value::as_str).map(str::to_lowercase);
    let known =
        |result| tool(result).is_some_and(|tool| tool.starts_with("f3") || tool.starts_with("h2testw"));
    results.iter().all(known).then_some(results)
}

fn log(result: &Map<String, Value>) -> Log {
    let mut log = Log::new("f3-facts");
    let text = |name: &str| result.get(name).and_then(Value::as_str);
    let tool = text("tool").unwrap_or_default();
    let (name, version) = tool.split_once(' ').unwrap_or((tool, ""));
    let version =
        Some(version.to_owned()).filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
    log.tool = Some(Tool { name: name.to_owned(), version });
    log.part = text("source").map(str::to_owned);
    log.card.name = text("card").map(str::to_owned);
    let bytes = |name: &str| result.get(name).and_then(Value::as_u64).and_then(|n| n.checked_mul(SECTOR));
    log.card.capacity_bytes = bytes("announced_blocks");
    let key = if tool.contains("f3probe") {
        "f3probe"
    } else if tool.starts_with('H') {
        "h2testw"
    } else {
        "f3read"
    };
    let sizes = [
        ("announced_bytes", "announced_blocks"),
        ("usable_bytes", "usable_blocks"),
        ("cache_bytes", "cache_blocks"),
        ("good_bytes", "data_ok_sectors"),
        ("lost_bytes", "data_lost_sectors"),
    ];
    let mut document: Map<String, Value> =
        sizes.iter().filter_map(|(name, field)| Some(((*name).to_owned(), json!(bytes(field)?)))).collect();
    document.insert("verdict".into(), json!(verdict(text("verdict"), bytes("data_lost_sectors"))));
    document.insert("told".into(), json!(result));
    log.other.insert(key.to_owned(), Value::Object(document));
    log.runs = run(result, name);
    log
}

/// The tool's verdict; a list may hold two that contradict each other, which settles nothing.
fn verdict(told: Option<&str>, lost: Option<u64>) -> Verdict {
    let known = [
        ("limbo", Verdict::Limbo),
        ("wraparound", Verdict::Wraparound),
        ("chain", Verdict::Chain),
        ("damaged", Verdict::Damaged),
        ("no errors", Verdict::Genuine),
        ("real thing", Verdict::Genuine),
    ];
    match (told, lost) {
        (Some(told), _) if told.contains("wrong") => Verdict::Inconclusive,
        (Some(told), _) => known
            .iter()
            .find(|(word, _)| told.contains(word))
            .map_or(Verdict::Inconclusive, |(_, verdict)| *verdict),
        (None, Some(1..)) => Verdict::Damaged,
        (None, Some(0)) => Verdict::Genuine,
        (None, None) => Verdict::Inconclusive,
    }
}

fn run(result: &Map<String, Value>, tool: &str) -> Vec<LogRun> {
    let ways = [
        ("write_speed_MBps", Op::Write),
        ("write_speed_MBytes", Op::Write),
        ("read_speed_MBps", Op::Read),
        ("read_speed_MBytes", Op::Read),
    ];
    let figure = |(field, op): (&str, Op)| {
        let value = number(result.get(field))?;
        let (step_name, unit) = match (tool.starts_with('H'), op) {
            (true, _) => ("h2testw", "MByte/s"),
            (false, Op::Write) => ("f3write", "MB/s"),
            (false, _) => ("f3read", "MB/s"),
        };
        Some(step(step_name, sequential(MIB, op), Amount { value, unit }, MIB_S))
    };
    let results: Vec<_> = ways.into_iter().filter_map(figure).collect();
    if results.is_empty() { Vec::new() } else { vec![LogRun { run: 1, results, ..LogRun::default() }] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"about": "x", "results": [
      {"source": "thread 1", "tool": "f3probe 9.0", "card": "Example 64GB", "verdict": "counterfeit of type limbo", "usable_blocks": 1000, "announced_blocks": 4000},
      {"source": "thread 2", "tool": "f3write/f3read", "data_ok_sectors": 10, "data_lost_sectors": 0, "write_speed_MBps": 5.0, "read_speed_MBps": 9.5},
      {"source": "thread 3", "tool": "H2testw 1.4", "verdict": "no errors", "read_speed_MBytes": 19.5},
      {"source": "thread 4", "tool": "f3probe 8.0", "verdict": "real thing (wrong: it lost data)", "announced_blocks": 99}]}"#;

    #[test]
    fn each_result_is_a_log_in_the_words_of_verify() {
        let text = Text::of(LIST);
        assert!(recognise(&text));
        let logs = read(&text).unwrap();
        let probe = &logs[0].other["f3probe"];
        assert_eq!(
            (probe["verdict"].as_str(), probe["usable_bytes"].as_u64(), logs[0].card.capacity_bytes),
            (Some("limbo"), Some(512_000), Some(2_048_000))
        );
        assert_eq!(logs[0].tool.as_ref().and_then(|tool| tool.version.as_deref()), Some("9.0"));
        assert_eq!(
            logs[1].runs[0].results.iter().map(|f| f.mb_s).collect::<Vec<_>>(),
            [5.0 * MIB_S, 9.5 * MIB_S]
        );
        assert_eq!(
            (logs[1].other["f3read"]["verdict"].as_str(), logs[2].other["h2testw"]["verdict"].as_str()),
            (Some("genuine"), Some("genuine"))
        );
        assert_eq!(logs[3].other["f3probe"]["verdict"], "inconclusive");
    }

    #[test]
    fn another_list_is_none() {
        assert!(!recognise(&Text::of(r#"{"results": [{"tool": "fio"}]}"#)) && read(&Text::of("{")).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(\\{\"results\": \\[|\\{\"tool\": \"f3probe\"|, \"announced_blocks\": |[0-9.e]{1,22}|[\\]\\}\",:]|[ -~]){0,12}") {
            let _ = (recognise(&Text::of(&text)), read(&Text::of(&text)));
        }
    }
}
