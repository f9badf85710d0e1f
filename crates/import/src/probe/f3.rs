//! f3probe, f3write and f3read of all versions, whole or in part, one after the other in one file.
//!
//! f3's KB, MB, GB and TB are powers of 1024 (utils.c, `adjust_unit`), in sizes and in speeds. f3read says what it read
//! and gives no verdict of its own; f3probe's verdicts are those of `verify`, under other words.

mod files;
mod prober;

use crate::error::ImportError;
use crate::numbers::{amount, binary_mb_s, sequential, step};
use crate::parts;
use crate::runs::Runs;
use crate::text::Text;
use cardscope_model::log::{Log, Tool};
use cardscope_model::run::{Figure, Run};
use cardscope_model::test_name::Op;
use cardscope_model::units::MIB;
use files::{Reading, Writing};
use prober::Probe;
use serde_json::{Value, json};

/// What a program of f3 said.
#[derive(Debug)]
enum Said {
    Probe(Probe),
    Write(Writing),
    Read(Reading),
}

/// True where a line that only f3 prints stands in it.
pub(crate) fn recognise(text: &Text) -> bool {
    text.lines().map(str::trim).any(|line| {
        ["F3 probe ", "F3 write ", "F3 read "].iter().any(|name| version(line, name).is_some())
            || prober::is_own_line(line)
            || files::is_own_line(line)
    })
}

/// Reads it: each device that f3probe judges is a log.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut device: Option<String> = None;
    let another = |line: &str| {
        let Some((judged, _)) = prober::verdict(line) else { return false };
        let before = device.replace(judged.to_owned());
        before.is_some_and(|before| before != judged)
    };
    parts::each(text, another, programs_of_one)
}

fn programs_of_one(text: &Text) -> Result<Vec<Log>, ImportError> {
    let mut log = Log::new("f3");
    let version = text.lines().find_map(|line| {
        ["F3 probe ", "F3 write ", "F3 read "].iter().find_map(|name| version(line.trim(), name))
    });
    log.tool = Some(Tool { name: "f3".into(), version: version.map(str::to_owned) });
    let mut runs = Runs::default();
    for told in programs(text) {
        put(told, version, &mut runs, &mut log);
    }
    log.runs = runs.finish();
    Ok(vec![log])
}

/// `F3 read 8.0`: the version.
fn version<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let version = line.strip_prefix(name)?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// The programs' outputs in their order; a new one begins at its first line.
fn programs(text: &Text) -> Vec<Said> {
    let mut programs: Vec<Said> = Vec::new();
    for line in text.lines().map(str::trim) {
        let taken = programs.last_mut().is_some_and(|told| match told {
            Said::Probe(probe) => probe.take(line),
            Said::Write(writing) => writing.take(line),
            Said::Read(reading) => reading.take(line),
        });
        if !taken {
            programs.extend(begun(line));
        }
    }
    programs
}

/// The program that this line begins, by its name or by a line that it alone prints.
fn begun(line: &str) -> Option<Said> {
    let (mut probe, mut writing, mut reading) = (Probe::default(), Writing::default(), Reading::default());
    if version(line, "F3 probe ").is_some() || probe.take(line) {
        return Some(Said::Probe(probe));
    }
    if version(line, "F3 write ").is_some() || writing.take(line) {
        return Some(Said::Write(writing));
    }
    (version(line, "F3 read ").is_some() || reading.take(line)).then_some(Said::Read(reading))
}

fn put(told: Said, version: Option<&str>, runs: &mut Runs, log: &mut Log) {
    match told {
        Said::Probe(probe) if !probe.is_empty() => {
            log.card.capacity_bytes = log.card.capacity_bytes.or(probe.announced_bytes());
            log.doubts.extend(probe.doubts(version));
            keep(log, "f3probe", probe.document());
        }
        Said::Write(writing) if !writing.is_empty() => {
            runs.begin(Run::default());
            writing
                .speed
                .iter()
                .filter_map(|printed| figure("f3write", Op::Write, printed))
                .for_each(|f| runs.add(f));
            keep(log, "f3write", json!(writing));
        }
        Said::Read(reading) if !reading.is_empty() => {
            // A read of the files that the write before it made is the same run.
            let size_bytes = reading.tested_bytes();
            if let Some(read) =
                reading.speed.as_deref().and_then(|printed| figure("f3read", Op::Read, printed))
            {
                runs.add(read);
                runs.last_mut().size_bytes = size_bytes;
            }
            keep(log, "f3read", reading.document());
        }
        _ => {}
    }
}

/// Keeps a document; a program that ran several times has a list of them.
fn keep(log: &mut Log, name: &str, document: Value) {
    match log.other.get_mut(name) {
        None => {
            log.other.insert(name.to_owned(), document);
        }
        Some(Value::Array(list)) => list.push(document),
        Some(first) => *first = Value::Array(vec![first.take(), document]),
    }
}

fn figure(name: &str, op: Op, printed: &str) -> Option<Figure> {
    let speed = amount(printed)?;
    Some(step(name, sequential(MIB, op), speed, binary_mb_s(speed.unit)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        read(&Text::decode(text.as_bytes())).unwrap().remove(0)
    }

    proptest::proptest! {
        #[test]
        fn any_counts_of_sectors_come_back(ok in 1u64..1 << 40, bad in 0u64..1 << 40) {
            let read = &log(&format!("  Data OK: 1.00 GB ({ok} sectors)\nData LOST: 1.00 GB ({bad} sectors)\n\tCorrupted: 1.00 GB ({bad} sectors)\n")).other["f3read"];
            proptest::prop_assert_eq!((read["good_bytes"].as_u64(), read["lost_bytes"].as_u64()), (Some(ok * 512), Some(bad * 512)));
        }
    }
}
