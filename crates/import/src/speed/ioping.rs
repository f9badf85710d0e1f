//! ioping's statistics, as text and as JSON (`-J`), learned from version 1.3 and held against 1.1's layout.
//!
//! KiB and MiB are powers of 1024. `requests completed` counts the time of the requests alone, `generated` the pauses
//! too: the first is the card's speed. The program does not print whether it went in sequence (`-L`): requests of
//! 256 KiB, its default with `-L`, are taken for sequential. The first request is warm-up and not counted.

mod statistics;

use crate::amount::{random, sequential};
use crate::error::ImportError;
use crate::runs::Runs;
use crate::text::Text;
use cardscope_model::condition::Origin;
use cardscope_model::log::{Log, Tool};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::Figure;
use cardscope_model::test_name::Op;
use cardscope_model::units::{KIB, MIB};
use statistics::Statistics;

/// Requests of this size are `-L`'s.
const LINEAR: u64 = 256 * KIB;

/// True where its statistics stand in it.
pub(crate) fn recognise(text: &Text) -> bool {
    text.lines().any(statistics::is_title) || statistics::is_json(text.body())
}

/// Reads it: each block of statistics is a figure.
///
/// # Errors
/// If the JSON is none, or ends in the middle.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let all = if statistics::is_json(text.body()) {
        statistics::of_json(text.body()).map_err(|why| ImportError::Empty { format: "ioping", why })?
    } else {
        statistics::of_text(text)
    };
    let mut log = Log::new("ioping");
    log.tool = Some(Tool { name: "ioping".into(), version: None });
    log.date = all.iter().find_map(|one| one.date.clone());
    if let Some(file_system) = all.iter().find_map(|one| one.file_system.clone()) {
        log.condition.set("file_system", file_system, Origin::Read);
    }
    if all.iter().any(|one| one.op.is_none()) {
        log.doubts.push("ioping did not say whether it read or wrote; it was taken for reading".to_owned());
    }
    let mut runs = Runs::default();
    all.iter().filter_map(figure).for_each(|figure| runs.add(figure));
    log.runs = runs.finish();
    Ok(vec![log])
}

fn figure(one: &Statistics) -> Option<Figure> {
    let block = one.block().filter(|block| (1..=64 * MIB).contains(block))?;
    let op = one.op.unwrap_or(Op::Read);
    let test = if block == LINEAR { sequential(block, op) } else { random(block, 1, op) };
    Some(Figure {
        test: test.pattern,
        op,
        step: Some("ioping".to_owned()),
        mb_s: one.mb_s?,
        iops: one.iops,
        latency_us: one.mean_us,
        max_latency_us: one.max_us,
        as_printed: Some(ToolPrints { value: one.printed.0, unit: one.printed.1.clone() }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    proptest::proptest! {
        #[test]
        fn any_speed_comes_back_as_printed(hundredths in 1u32..100_000) {
            let value = f64::from(hundredths) / 100.0;
            let log = log(&format!("--- x (ext4) ioping statistics ---\n5 requests completed in 1.00 s, 20 KiB read, 5 iops, {value} MiB/s\n"));
            proptest::prop_assert_eq!(log.runs[0].results[0].printed().value, value);
        }
    }
}
