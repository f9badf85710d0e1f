//! Tests by the names under which lists of results have them, and money and sizes in JSON.

use crate::amount::{random, sequential};
use cardscope_model::card::{Event, EventKind, Price};
use cardscope_model::test_name::{Op, TestName};
use cardscope_model::units::{KIB, MIB, parse_size};
use serde_json::Value;

/// A test, and the step where it is one of several of its kind.
pub(super) type Named = (TestName, Option<&'static str>);

/// `RND4K Q32T1 Write`, `RND4K Q1 read`, `sequential read`, `random 4K write`, `random write 16KiB`, `seq write, direct`.
pub(super) fn named(text: &str) -> Option<Named> {
    let lower = text.to_lowercase();
    let whole = text
        .rsplit_once(' ')
        .and_then(|(pattern, op)| format!("{pattern} {}", op.to_lowercase()).parse().ok());
    // A depth without threads is one thread's.
    let one_thread = || {
        let (pattern, op) = text.rsplit_once(' ')?;
        format!("{pattern}T1 {}", op.to_lowercase()).parse().ok()
    };
    if let Some(test) = whole.or_else(one_thread) {
        return Some((test, None));
    }
    let op = match (lower.contains("read"), lower.contains("write")) {
        (true, false) => Op::Read,
        (false, true) => Op::Write,
        _ => return None,
    };
    if lower.starts_with("seq") {
        let step = ["cache", "direct", "ext4"].into_iter().find(|step| lower.ends_with(step));
        return Some((sequential(MIB, op), step));
    }
    let block = lower.starts_with("random").then(|| lower.split(' ').find_map(block)).flatten()?;
    Some((random(block, 1, op), None))
}

/// `4K`, `16KiB` in any case.
pub(super) fn block(word: &str) -> Option<u64> {
    let upper = word.to_uppercase().replace("IB", "iB");
    parse_size(&upper).ok().filter(|bytes| (512..=64 * MIB).contains(bytes))
}

/// Fields of a card that are figures, and what they are.
pub(super) fn fields() -> [(&'static str, Named); 14] {
    let seq = |op, step| (sequential(MIB, op), step);
    let rnd = |op| (random(4 * KIB, 1, op), None);
    [
        ("seq_read", seq(Op::Read, None)),
        ("read", seq(Op::Read, None)),
        ("write", seq(Op::Write, None)),
        ("seq_write_cache", seq(Op::Write, Some("cache"))),
        ("seq_write_direct", seq(Op::Write, Some("direct"))),
        ("seq_write_ext4", seq(Op::Write, Some("ext4"))),
        ("seq_write_random_data", seq(Op::Write, Some("random data"))),
        ("seq_write_zeros", seq(Op::Write, Some("zeros"))),
        ("seq_write_exfat_zeros", seq(Op::Write, Some("exFAT, zeros"))),
        ("dd_write", seq(Op::Write, Some("dd"))),
        ("rand_read_4k", rnd(Op::Read)),
        ("random_read_4k", rnd(Op::Read)),
        ("rand_write_4k", rnd(Op::Write)),
        ("random_write_4k", rnd(Op::Write)),
    ]
}

/// `[{"value": 6.81, "currency": "EUR", "bought": "2016-05"}]` as events.
pub(super) fn prices(list: Option<&Value>, source: Option<&str>) -> Vec<Event> {
    let list = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let event = |entry: &Value| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        let date = text("bought");
        Some(Event {
            kind: if date.is_some() { EventKind::Bought } else { EventKind::Note },
            date,
            price: Some(Price { amount: number(entry.get("value"))?, currency: text("currency")? }),
            note: text("note"),
            source: source.map(str::to_owned),
        })
    };
    list.iter().filter_map(event).collect()
}

/// A finite number that is not negative.
pub(super) fn number(value: Option<&Value>) -> Option<f64> {
    value?.as_f64().filter(|value| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_under_the_names_of_lists() {
        for (text, test, step) in [
            ("RND4K Q8T8 Write", "RND4K Q8T8 write", None),
            ("RND4K Q32 read", "RND4K Q32T1 read", None),
            ("sequential read", "SEQ1M Q1T1 read", None),
            ("seq write, direct", "SEQ1M Q1T1 write", Some("direct")),
            ("random 4K write", "RND4K Q1T1 write", None),
            ("random write 512KiB", "RND512K Q1T1 write", None),
        ] {
            assert_eq!(
                named(text).map(|(name, step)| (name.to_string(), step)),
                Some((test.to_owned(), step)),
                "{text}"
            );
        }
        for text in ["read latency", "random", "random write soon", "", "read and write over USB 3.0"] {
            assert!(
                named(text).is_none_or(|(name, _)| name.op == Op::Read && text.contains("seq")),
                "{text}"
            );
        }
    }
}
