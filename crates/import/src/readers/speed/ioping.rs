//! ioping: its statistics, as text and as JSON (`-J`), in the layouts of versions 1.3 and 1.1.
//!
//! KiB and MiB are powers of 1024. `requests completed` counts the time of the requests alone, `generated` includes the
//! pauses, so the first is the card's speed. The program does not print whether it read sequentially (`-L`): requests of
//! 256 KiB, its default with `-L`, count as sequential. The first request is a warm-up and not counted.

use crate::readers::{
    LogText, ReaderOutcome, RunBuilder, add_doubts, binary_bytes, binary_mb_s, new_log, parse_date,
    parse_scaled, parse_speed, random_test, sequential_test, set_word,
};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::TestOp;
use cardscope_model::units::{KIB, MIB};
use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use std::fmt;

/// Size of requests with `-L`.
const LINEAR_REQUEST: u64 = 256 * KIB;

/// True if the text has statistics.
pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(is_title) || is_json(text.body())
}

/// Reads the text; each block of statistics is a figure.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let all = if is_json(text.body()) { parse_json(text.body())? } else { parse_text(text) };
    let mut log = new_log("ioping", None);
    log.date = all.iter().find_map(|one| one.date.clone());
    set_word(&mut log, "file_system", all.iter().find_map(|one| one.file_system.clone()));
    let assumed = "ioping does not show whether it read or wrote; assumed reading";
    add_doubts(&mut log, [(all.iter().any(|one| one.op.is_none()), assumed)]);
    log.runs = RunBuilder::group_figures(all.iter().filter_map(to_figure));
    Ok(vec![log])
}

fn to_figure(one: &IopingBlock) -> Option<TestFigure> {
    let block = one.request_size().filter(|block| (1..=64 * MIB).contains(block))?;
    let op = one.op.unwrap_or(TestOp::Read);
    let test = if block == LINEAR_REQUEST { sequential_test(block, op) } else { random_test(block, 1, op) };
    Some(TestFigure {
        step: Some("ioping".to_owned()),
        iops: one.iops,
        latency_us: one.mean_us,
        max_latency_us: one.max_us,
        as_printed: Some(ToolPrints { value: one.printed.0, unit: one.printed.1.clone() }),
        ..TestFigure::from_speed(test, one.mb_s?)
    })
}

/// Block of statistics.
#[derive(Debug, Clone, Default)]
struct IopingBlock {
    op: Option<TestOp>,
    date: Option<String>,
    file_system: Option<String>,
    requests: f64,
    bytes: f64,
    /// Bytes of a request according to a request's line.
    request_bytes: Option<f64>,
    iops: Option<f64>,
    mb_s: Option<f64>,
    printed: (f64, String),
    mean_us: Option<f64>,
    max_us: Option<f64>,
}

impl IopingBlock {
    /// Bytes of a request. Counts are printed with three digits, so a mean near a power of two is rounded to it.
    fn request_size(&self) -> Option<u64> {
        let mean = self.request_bytes.unwrap_or(self.bytes / self.requests);
        let power = mean.log2().round();
        let near = mean.is_finite() && (mean / power.exp2() - 1.0).abs() < 0.02;
        let exact = if near { power.exp2() } else { mean.round() };
        (1.0..1e12).contains(&exact).then_some(exact as u64)
    }
}

/// True for `--- /mnt (ext4 /dev/sda1 29.7 GiB) ioping statistics ---`.
fn is_title(line: &str) -> bool {
    line.starts_with("--- ") && line.trim_end().ends_with(" ioping statistics ---")
}

fn parse_text(text: &LogText) -> Vec<IopingBlock> {
    let mut all: Vec<IopingBlock> = Vec::new();
    let mut next = IopingBlock::default();
    for line in text.lines().map(str::trim) {
        if is_title(line) {
            next.file_system = file_system(line);
            all.push(std::mem::take(&mut next));
        } else if let Some((size, op)) = parse_request(line) {
            (next.request_bytes, next.op) = (Some(size), Some(op));
        } else if let Some(last) = all.last_mut() {
            read_completed(line, last);
            read_latencies(line, last);
        }
    }
    all
}

/// Parses `4 KiB <<< /mnt …: request=2 time=149.7 us`.
fn parse_request(line: &str) -> Option<(f64, TestOp)> {
    let signs = [(" <<< ", TestOp::Read), (" >>> ", TestOp::Write)];
    let (size, op) = signs.iter().find_map(|(sign, op)| Some((line.split_once(sign)?.0, *op)))?;
    Some((parse_bytes(size)?, op)).filter(|_| line.contains("request="))
}

fn file_system(title: &str) -> Option<String> {
    let (_, rest) = title.rsplit_once('(')?;
    let word = rest.split([' ', ')']).next()?;
    // `block device` and `device` are not file systems.
    Some(word.to_owned()).filter(|word| !matches!(word.as_str(), "block" | "device" | "character"))
}

/// Parses `9.35 k requests completed in 472.0 ms, 36.5 MiB read, 19.8 k iops, 77.4 MiB/s`.
fn read_completed(line: &str, into: &mut IopingBlock) -> Option<()> {
    let (requests, rest) = line.split_once(" requests completed in ")?;
    into.requests = parse_count(requests)?;
    for part in rest.split(", ").skip(1) {
        let Some(words) = part.rsplit_once(' ') else { continue };
        match words {
            (size, "read") => (into.op, into.bytes) = (Some(TestOp::Read), parse_bytes(size)?),
            (size, "written") => (into.op, into.bytes) = (Some(TestOp::Write), parse_bytes(size)?),
            (count, "iops") => into.iops = parse_count(count),
            (value, unit) => {
                into.printed = (parse_speed(value)?, unit.to_owned());
                into.mb_s = binary_mb_s(unit).map(|one| one * into.printed.0);
            }
        }
    }
    Some(())
}

/// Parses `min/avg/max/mdev = 149.7 us / 159.9 us / 176.6 us / 11.1 us`.
fn read_latencies(line: &str, into: &mut IopingBlock) -> Option<()> {
    let (_, rest) = line.split_once("min/avg/max/mdev = ")?;
    let mut times = rest.split(" / ").map(parse_micros);
    (into.mean_us, into.max_us) = (times.nth(1)?, times.next()?);
    Some(())
}

fn parse_micros(text: &str) -> Option<f64> {
    let units = [(" ns", 1e-3), (" us", 1.0), (" ms", 1e3), (" s", 1e6), (" min", 60e6), (" hour", 3600e6)];
    parse_scaled(text.trim(), &units).or_else(|| parse_scaled(text.trim(), &[(" h", 3600e6)]))
}

/// Parses a count with its thousands or millions: `6.25 k`.
fn parse_count(text: &str) -> Option<f64> {
    parse_scaled(text.trim(), &[(" k", 1e3), (" m", 1e6), (" M", 1e6), ("", 1.0)])
}

fn parse_bytes(text: &str) -> Option<f64> {
    let (value, unit) = text.trim().split_once(' ')?;
    Some(parse_speed(value)? * binary_bytes(unit)?)
}

/// Most blocks of statistics of one file.
const MOST_BLOCKS: usize = 50_000;

/// Element of the JSON's list.
#[derive(Debug, Deserialize)]
struct IopingElement {
    localtime: Option<String>,
    target: Option<IopingTarget>,
    io: Option<IopingIo>,
    stat: Option<IopingStat>,
}

#[derive(Debug, Deserialize)]
struct IopingTarget {
    fstype: Option<String>,
}

#[derive(Debug, Deserialize)]
struct IopingIo {
    operation: Option<String>,
}

/// Times in nanoseconds.
#[derive(Debug, Deserialize)]
struct IopingStat {
    count: f64,
    size: f64,
    iops: f64,
    bps: f64,
    avg: f64,
    max: f64,
}

/// True for the list that `-J` prints.
fn is_json(body: &str) -> bool {
    let head: String = body.chars().filter(|c| !c.is_whitespace()).take(16).collect();
    head.starts_with("[{\"timestamp\":") && (body.contains("\"io\"") || body.contains("\"stat\""))
}

fn parse_json(body: &str) -> Result<Vec<IopingBlock>, String> {
    let mut reader = serde_json::Deserializer::from_str(body.trim());
    let read = reader.deserialize_seq(ElementVisitor).and_then(|all| reader.end().map(|()| all));
    read.map_err(|error| format!("its JSON cannot be read: {error}"))
}

/// Visits the list's elements one by one, and stores only those with statistics.
struct ElementVisitor;

impl<'de> Visitor<'de> for ElementVisitor {
    type Value = Vec<IopingBlock>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of statistics")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<IopingBlock>, A::Error> {
        let (mut op, mut date, mut all) = (None, None, Vec::new());
        while let Some(element) = list.next_element::<IopingElement>()? {
            date = date.or_else(|| parse_date(element.localtime.as_deref()?));
            op = element.io.and_then(|io| io.operation?.parse().ok()).or(op);
            if let Some(stat) = element.stat {
                let file_system = element.target.and_then(|t| t.fstype).filter(|name| !name.is_empty());
                all.push(IopingBlock { op, date: date.clone(), file_system, ..from_stat(&stat) });
            }
            if all.len() > MOST_BLOCKS {
                return Err(A::Error::custom(format_args!("it has more than {MOST_BLOCKS} statistics")));
            }
        }
        Ok(all)
    }
}

fn from_stat(stat: &IopingStat) -> IopingBlock {
    let amount = |value: f64| Some(value).filter(|v| v.is_finite() && *v >= 0.0);
    IopingBlock {
        requests: stat.count,
        bytes: stat.size,
        iops: amount(stat.iops),
        mb_s: amount(stat.bps / 1e6),
        printed: (stat.bps, "bytes/s".to_owned()),
        mean_us: amount(stat.avg / 1e3),
        max_us: amount(stat.max / 1e3),
        ..IopingBlock::default()
    }
}
