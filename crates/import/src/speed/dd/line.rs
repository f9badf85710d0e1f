//! The result line, `419430400 bytes (419 MB, 400 MiB) copied, 43.8 s, 9.6 MB/s`, in any language.

use crate::numbers::number;
use cardscope_model::units::MB;

/// How far a printed speed may lie from bytes over seconds: its own rounding to two digits, and MB that are MiB.
const ROUNDING: f64 = 0.15;

/// What a result line says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Copied {
    /// Bytes moved.
    pub(crate) bytes: u64,
    /// In how many seconds.
    pub(crate) seconds: f64,
    /// The speed as printed.
    pub(crate) value: f64,
    /// Its unit as printed.
    pub(crate) unit: String,
    /// It may be a state of `status=progress`, which counts whole seconds.
    pub(super) progress: bool,
}

impl Copied {
    /// Speed in MB/s; `None` where nothing was moved.
    pub(crate) fn mb_s(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.bytes as f64 / MB / self.seconds)
    }
}

/// The first number of `51200+0 records in`, in any language.
pub(super) fn whole_records(line: &str) -> Option<u64> {
    let count = line.split_whitespace().next()?;
    let (whole, partial) = count.split_once('+')?;
    let partial: u64 = partial.parse().ok()?;
    // Bytes of partial records are of no even share.
    whole.parse().ok().map(|whole: u64| if partial == 0 { whole } else { 0 })
}

/// Reads a result line; `None` where it is none.
pub(super) fn copied(line: &str) -> Option<Copied> {
    let numbers = numbers(line);
    let [(bytes, ..), .., (seconds, _), (speed, after)] = &numbers[..] else { return None };
    if let Some(copied) = bsd(line, &numbers) {
        return Some(copied);
    }
    let bytes: u64 = bytes.parse().ok()?;
    let unit = unit(after)?;
    let (elapsed, value) = (number(seconds)?, number(speed)?);
    let progress = !seconds.contains(['.', ',']);
    consistent(bytes, elapsed, value * factor(unit)?).then(|| Copied {
        bytes,
        seconds: elapsed,
        value,
        unit: unit.to_owned(),
        progress,
    })
}

/// BSD and macOS put bytes a second in brackets: `1048576 bytes transferred in 0.5 secs (2097152 bytes/sec)`.
fn bsd(line: &str, numbers: &[(&str, &str)]) -> Option<Copied> {
    let (head, _) = line.split_once("bytes/sec")?;
    let (_, speed) = head.rsplit_once('(')?;
    let bytes: u64 = numbers.first()?.0.parse().ok()?;
    let (seconds, value) = (number(numbers.get(numbers.len().checked_sub(2)?)?.0)?, number(speed)?);
    let copied = Copied { bytes, seconds, value, unit: "bytes/sec".to_owned(), progress: false };
    consistent(bytes, seconds, value / MB).then_some(copied)
}

fn consistent(bytes: u64, seconds: f64, mb_s: f64) -> bool {
    let true_mb_s = bytes as f64 / MB / seconds;
    let nothing = bytes == 0 && mb_s == 0.0;
    seconds > 0.0 && (nothing || (true_mb_s - mb_s).abs() <= ROUNDING * mb_s.max(true_mb_s))
}

/// The unit behind the last number: letters, a slash, and the language's word for a second.
fn unit(after: &str) -> Option<&str> {
    let unit = after.split_whitespace().next()?.trim_end_matches(['.', ',', ')']);
    let (size, time) = unit.split_once('/')?;
    (size.ends_with('B') && (1..=4).contains(&time.chars().count())).then_some(unit)
}

/// MB/s in one of it. busybox writes MB for MiB: near enough to see that the line is one.
fn factor(unit: &str) -> Option<f64> {
    Some(match unit.split_once('/')?.0 {
        "B" => 1e-6,
        "kB" | "KB" => 1e-3,
        "MB" => 1.0,
        "GB" => 1e3,
        "TB" => 1e6,
        _ => return None,
    })
}

/// The numbers of a line, each with what follows it.
fn numbers(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[start..];
        let part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        // A small time is printed with an exponent: 8.1e-05 s.
        let mut end = tail.find(|c: char| !part(c)).unwrap_or(tail.len());
        if let Some(power) = tail[end..].strip_prefix("e-") {
            end += 2 + power.find(|c: char| !c.is_ascii_digit()).unwrap_or(power.len());
        }
        found.push((tail[..end].trim_end_matches(['.', ',']), &tail[end..]));
        rest = &tail[end..];
    }
    found
}
