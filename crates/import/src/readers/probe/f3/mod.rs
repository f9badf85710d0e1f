//! f3probe, f3write and f3read of all versions, complete or partial, also one after the other in one file.
//!
//! f3's KB, MB, GB and TB are powers of 1024 (utils.c, `adjust_unit`), in sizes and in speeds. f3read prints counts
//! without a verdict; f3probe's verdicts are those of `verify` under other names.

mod files;
mod prober;

use crate::readers::{
    LogText, ReaderOutcome, RunBuilder, binary_mb_s, new_log, parse_amount, read_by_device, sequential_test,
    step_figure,
};
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::test_name::TestOp;
use cardscope_model::units::MIB;
use files::{F3Read, F3Write};
use prober::F3Probe;
use serde_json::{Value, json};

/// Output of one program of f3.
#[derive(Debug)]
enum F3Output {
    Probe(F3Probe),
    Write(F3Write),
    Read(F3Read),
}

/// Beginning of a program's first line; the version follows.
const PROGRAM_NAMES: [&str; 3] = ["F3 probe ", "F3 write ", "F3 read "];

/// True if the text has a line that only f3 prints.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().map(str::trim).any(|line| {
        PROGRAM_NAMES.iter().any(|name| parse_version(line, name).is_some())
            || prober::is_own_line(line)
            || files::is_own_line(line)
    })
}

/// Reads the text; each device that f3probe judges is a log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    read_by_device(text, |line| Some(prober::parse_verdict(line)?.0), read_device)
}

fn read_device(text: &LogText) -> ReaderOutcome {
    let version = text.lines().find_map(|l| PROGRAM_NAMES.iter().find_map(|n| parse_version(l.trim(), n)));
    let mut log = new_log("f3", version);
    let mut runs = RunBuilder::default();
    for output in split_programs(text) {
        add_output(output, version, &mut runs, &mut log);
    }
    log.runs = runs.finish();
    Ok(vec![log])
}

/// Version in `F3 read 8.0`.
fn parse_version<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let version = line.strip_prefix(name)?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(version)
}

/// Outputs of the programs, in order.
fn split_programs(text: &LogText) -> Vec<F3Output> {
    let mut programs: Vec<F3Output> = Vec::new();
    for line in text.lines().map(str::trim) {
        if !programs.last_mut().is_some_and(|program| program.parse_line(line)) {
            programs.extend(begin_program(line));
        }
    }
    programs
}

/// Program whose output begins with this line.
fn begin_program(line: &str) -> Option<F3Output> {
    let programs = [
        F3Output::Probe(F3Probe::default()),
        F3Output::Write(F3Write::default()),
        F3Output::Read(F3Read::default()),
    ];
    programs.into_iter().zip(PROGRAM_NAMES).find_map(|(mut program, name)| {
        (parse_version(line, name).is_some() || program.parse_line(line)).then_some(program)
    })
}

impl F3Output {
    /// Parses a line; returns false if it is not of this program.
    fn parse_line(&mut self, line: &str) -> bool {
        match self {
            F3Output::Probe(probe) => probe.parse_probe_line(line),
            F3Output::Write(writing) => writing.parse_write_line(line),
            F3Output::Read(reading) => reading.parse_read_line(line),
        }
    }
}

fn add_output(said: F3Output, version: Option<&str>, runs: &mut RunBuilder, log: &mut CardLog) {
    match said {
        F3Output::Probe(probe) if !probe.is_empty() => {
            log.card.capacity_bytes = log.card.capacity_bytes.or(probe.announced_bytes());
            log.doubts.extend(probe.size_doubt(version));
            add_document(log, "f3probe", probe.to_document());
        }
        F3Output::Write(writing) if !writing.is_empty() => {
            runs.begin_run(Run::default());
            let write = speed_figure("f3write", TestOp::Write, &writing.speed);
            write.into_iter().for_each(|figure| runs.add_figure(figure));
            add_document(log, "f3write", json!(writing));
        }
        F3Output::Read(reading) if !reading.is_empty() => {
            // A read of the files that the write before it made belongs to the same run.
            if let Some(read) = speed_figure("f3read", TestOp::Read, &reading.speed) {
                runs.add_figure(read);
                runs.current_run().size_bytes = reading.tested_bytes();
            }
            add_document(log, "f3read", reading.to_document());
        }
        _ => {}
    }
}

/// Adds a document; several runs of a program become a list.
fn add_document(log: &mut CardLog, name: &str, document: Value) {
    match log.other.entry(name).or_insert(Value::Null) {
        Value::Array(list) => list.push(document),
        none @ Value::Null => *none = document,
        first => *first = Value::Array(vec![first.take(), document]),
    }
}

fn speed_figure(name: &str, op: TestOp, printed: &Option<String>) -> Option<TestFigure> {
    let speed = parse_amount(printed.as_deref()?)?;
    Some(step_figure(name, sequential_test(MIB, op), speed, binary_mb_s(speed.unit)?))
}
