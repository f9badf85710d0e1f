//! fio's normal output, of versions 1 to 3.
//!
//! A job's line of options precedes its results: `job: (g=0): rw=randread, bs=…`. Version 3 prints
//! `BW=22.5MiB/s (23.6MB/s)` with exact units; before, `bw=22345KB/s` is KiB/s and `MB/s` is MiB/s.

use super::options::JobOptions;
use super::{DIRECTIONS, FioDocument, FioJob, JobDirection, assemble};
use crate::readers::{LogText, ReaderOutcome, parse_date, parse_scaled, parse_speed, power_of_thousand};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::LatencyPercentiles;
use cardscope_model::units::parse_size;
use std::collections::HashMap;

pub(crate) fn recognise(text: &LogText) -> bool {
    text.lines().any(|line| parse_job_line(line).is_some())
}

pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let mut reader = FioTextReader::default();
    text.lines().for_each(|line| reader.read_line(line));
    let mut documents = reader.documents;
    documents.push(reader.document);
    let logs = assemble::build_logs(documents);
    if logs.iter().all(|log| log.runs.is_empty()) {
        return Err("no job reports a speed; it may be truncated".to_owned());
    }
    Ok(logs)
}

#[derive(Default)]
struct FioTextReader {
    documents: Vec<FioDocument>,
    document: FioDocument,
    /// Options by job name, from the lines at fio's start.
    options_by_job: HashMap<String, JobOptions>,
    /// Direction of the latencies that follow; `None` for one that is not imported.
    direction: Option<usize>,
    /// Microseconds in one unit of the percentiles that follow.
    percentiles_in_us: Option<f64>,
    disks_follow: bool,
    /// Number of times that fio printed its version. It distinguishes equal process ids, which the system reuses.
    starts: u32,
    /// True after the sums that end a report: a further job belongs to the next report.
    report_ended: bool,
}

impl FioTextReader {
    fn read_line(&mut self, line: &str) {
        let trimmed = line.trim();
        let version = trimmed.strip_prefix("fio-");
        if let Some(version) = version.filter(|version| version.starts_with(|c: char| c.is_ascii_digit())) {
            self.starts += 1;
            self.begin_report(Some(version.to_owned()));
        } else if trimmed.starts_with("Run status group") {
            self.report_ended = true;
        } else if let Some((name, options)) = parse_options_line(line) {
            self.options_by_job.insert(name.to_owned(), options);
        } else if let Some((job, date)) = parse_job_line(line) {
            self.add_job(job, date);
        } else if let Some(row) = trimmed.strip_prefix('|') {
            self.read_percentiles(row);
        } else if let Some((key, rest)) = trimmed.split_once(':') {
            self.percentiles_in_us = key.strip_prefix("clat percentiles (").and_then(microseconds_per_unit);
            self.read_detail(key.trim_end(), rest);
        }
    }

    /// Begins a report. fio prints its version after the jobs' options and before their results.
    fn begin_report(&mut self, version: Option<String>) {
        if !self.document.jobs.is_empty() {
            self.documents.push(std::mem::take(&mut self.document));
        }
        self.document.version = version;
        (self.disks_follow, self.report_ended) = (false, false);
    }

    fn add_job(&mut self, mut job: FioJob, date: &str) {
        if self.report_ended {
            self.begin_report(self.document.version.clone());
        }
        self.direction = Some(0);
        job.options = self.options_by_job.get(&job.name).cloned().unwrap_or_default();
        job.start_key = job.start_key.map(|pid| format!("{pid} of start {}", self.starts));
        self.document.date = self.document.date.take().or_else(|| parse_date(date));
        self.document.jobs.push(job);
    }

    /// Direction of the last job that the current lines describe.
    fn current_direction(&mut self) -> Option<&mut JobDirection> {
        self.document.jobs.last_mut()?.directions[self.direction?].as_mut()
    }

    /// `99.00th=[ 5800], 99.50th=[ 6390], 99.90th=[ 7308]`
    fn read_percentiles(&mut self, row: &str) {
        let Some(in_us) = self.percentiles_in_us else { return };
        let Some(side) = self.current_direction() else { return };
        let LatencyPercentiles { p50, p99, p999 } = &mut side.percentiles_us;
        for (share, place) in [(" 50.00th=[", p50), (" 99.00th=[", p99), (" 99.90th=[", p999)] {
            let value = row.split_once(share).and_then(|(_, rest)| parse_speed(rest.split(']').next()?));
            *place = value.map(|value| value * in_us).or(*place);
        }
    }

    fn read_detail(&mut self, key: &str, rest: &str) {
        if key.starts_with("Disk stats") {
            self.disks_follow = true;
        } else if self.disks_follow && rest.trim_start().starts_with("ios=") {
            self.document.disks.push(key.to_owned());
        } else if let Some(job) = self.document.jobs.last_mut() {
            if let Some(direction) = DIRECTIONS.iter().position(|known| *known == key) {
                self.direction = Some(direction);
                job.directions[direction] = parse_bandwidth(rest);
            } else if key == "trim" {
                self.direction = None;
                job.discards |= parse_bandwidth(rest).is_some();
            } else if let Some(side) = self.direction.and_then(|at| job.directions[at].as_mut()) {
                add_latency(side, key, rest);
            }
        }
    }
}

/// Microseconds in one unit of a heading: `usec)`.
fn microseconds_per_unit(unit: &str) -> Option<f64> {
    let units = [("nsec", 1e-3), ("usec", 1.0), ("msec", 1e3), ("sec", 1e6)];
    units.into_iter().find(|(name, _)| *name == unit.trim_end_matches(')')).map(|(_, us)| us)
}

/// `job: (g=0): rw=randwrite, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32`.
fn parse_options_line(line: &str) -> Option<(&str, JobOptions)> {
    let (name, rest) = line.split_once(": (g=")?;
    let (_, settings) = rest.split_once("): ")?;
    let mut options = JobOptions::default();
    for (key, value) in settings.split(", ").filter_map(|setting| setting.split_once('=')) {
        match key {
            "bs" => options.blocks = parse_blocks(settings),
            "rw" | "ioengine" | "iodepth" => options.set(key, value.trim()),
            _ => {}
        }
    }
    // The line omits `rwmixread` and other options, so a missing one need not have fio's default.
    options.is_complete = false;
    Some((name.trim(), options))
}

/// Block size of reads and of writes, if it is a single one: `bs=(R) 4096B-4096B, (W) …`, `bs=4K-4K/4K-4K/4K-4K`.
fn parse_blocks(settings: &str) -> [Option<u64>; 2] {
    let ranges = settings.split("bs=").nth(1).unwrap_or_default();
    let mut sizes = ranges.split(['/', ',']).take(2).map(|range| {
        let range = range.trim().trim_start_matches("(R)").trim_start_matches("(W)").trim();
        let (least, most) = range.split_once('-')?;
        parse_size(least).ok().filter(|_| least == most)
    });
    [sizes.next().flatten(), sizes.next().flatten()]
}

/// Job and date of a report's first line: `job: (groupid=0, jobs=8): err= 0: pid=1495: Tue Aug 20 15:32:30 2024`.
fn parse_job_line(line: &str) -> Option<(FioJob, &str)> {
    let (name, rest) = line.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(", jobs=")?;
    let (count, rest) = rest.split_once("): err=")?;
    let (error, rest) = rest.split_once(':').unwrap_or((rest, ""));
    let pid = rest.split_once("pid=").and_then(|(_, rest)| rest.split(':').next());
    let job = FioJob {
        name: name.trim().to_owned(),
        group: group.parse().ok()?,
        options: JobOptions::default(),
        count: count.trim().parse().ok()?,
        error: error.split_whitespace().next()?.parse().ok()?,
        directions: Default::default(),
        discards: false,
        start_key: pid.map(|pid| pid.trim().to_owned()),
    };
    Some((job, rest.split_once(": ").map_or("", |(_, date)| date)))
}

/// `IOPS=22, BW=22.5MiB/s (23.6MB/s)(8192MiB/363725msec)`, `io=1024.0MB, bw=22345KB/s, iops=5586, runt= 46932msec`.
fn parse_bandwidth(text: &str) -> Option<JobDirection> {
    let setting = |key: &str| {
        let value = text.split_once(key)?.1;
        Some(value.split([',', ' ', '(']).find(|part| !part.is_empty()).unwrap_or_default())
    };
    let (printed, old) = setting("BW=").map(|new| (new, false)).or(setting("bw=").map(|old| (old, true)))?;
    let (value, unit) = printed.split_at(printed.find(|c: char| c.is_ascii_alphabetic())?);
    let value = parse_speed(value)?;
    let bytes_s = value * unit_bytes(unit, old)?;
    let iops = setting("IOPS=").or_else(|| setting("iops=")).and_then(parse_count).unwrap_or(0.0);
    let printed = ToolPrints { value, unit: unit.to_owned() };
    let (latency_us, max_latency_us, percentiles_us) = Default::default();
    (bytes_s > 0.0).then_some(JobDirection {
        bytes_s,
        iops,
        printed,
        latency_us,
        max_latency_us,
        percentiles_us,
    })
}

/// Bytes in one unit of speed; in old versions `KB` is 1024 bytes.
fn unit_bytes(unit: &str, old: bool) -> Option<f64> {
    let base: f64 = if old || unit.contains('i') { 1024.0 } else { 1000.0 };
    power_of_thousand(unit.strip_suffix("/s")?).map(|power| base.powi(power))
}

/// `5586`, `12.3k`, `1.2M`.
fn parse_count(text: &str) -> Option<f64> {
    parse_scaled(text.trim(), &[("k", 1e3), ("M", 1e6), ("", 1.0)])
}

/// Adds `clat (usec): min=43, max=5719, avg=353.49, stdev=168.04`. Total latency counts only if this is missing.
fn add_latency(side: &mut JobDirection, key: &str, rest: &str) {
    let Some((kind, unit)) = key.split_once('(') else { return };
    let Some(us) = microseconds_per_unit(unit) else { return };
    let value = |name: &str| parse_count(rest.split_once(name)?.1.split(',').next()?).map(|value| value * us);
    if kind.trim() == "clat" || (kind.trim() == "lat" && side.latency_us.is_none()) {
        side.latency_us = value("avg=").or(side.latency_us);
        side.max_latency_us = value("max=").or(side.max_latency_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_belong_to_the_direction_above_them() {
        let text = "j: (groupid=0, jobs=1): err= 0: pid=7: x\n\
            \u{20} write: IOPS=250, BW=1000KiB/s (1024kB/s)(1MiB/1msec)\n\
            \u{20}   clat (usec): min=50, max=90000, avg=400.5, stdev=1\n\
            \u{20}   clat percentiles (msec):\n\
            \u{20}    | 10.00th=[    1], 50.00th=[    2], 90.00th=[    8],\n\
            \u{20}    | 99.00th=[   12], 99.50th=[   20], 99.90th=[   40],\n\
            \u{20}  bw (  KiB/s): min= 1850, max= 2030\n\
            \u{20}  | 50.00th=[ 9]\n";
        let figure = read(&LogText::from_decoded(text)).unwrap()[0].runs[0].results[0].clone();
        let LatencyPercentiles { p50, p99, p999 } = figure.percentiles_us;
        assert_eq!([p50, p99, p999], [2e3, 12e3, 40e3].map(Some));
        assert_eq!((figure.latency_us, figure.max_latency_us), (Some(400.5), Some(9e4)));
    }

    #[test]
    fn units_are_exact_in_version_3_and_binary_before() {
        for (unit, old, bytes) in [
            ("B/s", false, Some(1.0)),
            ("KiB/s", false, Some(1024.0)),
            ("kB/s", false, Some(1000.0)),
            ("MB/s", true, Some(1_048_576.0)),
            ("GiB/s", false, Some(1_073_741_824.0)),
            ("Mbit/s", false, None),
        ] {
            assert_eq!(unit_bytes(unit, old), bytes, "{unit}");
        }
    }
}
