//! fio's JSON of any version: `--output-format=json` and `json+`, alone or among other output, once or many times.
//!
//! Since version 3 `bw_bytes` is B/s and latencies are in nanoseconds; before, amounts are KiB and latencies microseconds.
//! `bw` is KiB/s in all versions. Repeated keys and `nan`, which JSON does not allow, are accepted.

use super::options::JobOptions;
use super::{DIRECTIONS, FioDocument, FioJob, JobDirection, assemble, group_by_key};
use crate::readers::json::JsonChoice;
use crate::readers::{LogText, ReaderOutcome, json, parse_date};
use cardscope_model::result::ToolPrints;
use cardscope_model::run::LatencyPercentiles;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Entry in which a fio server sums up its clients.
const TOTAL_ENTRY: &str = "All clients";

/// Most jobs of one file, and most computers, that are read: far more than real logs have.
const MOST_JOBS: usize = 50_000;
const MOST_HOSTS: usize = 1000;

/// Braces without JSON after which the search ends: each may nest a hundred others.
const MOST_STRAY_BRACES: usize = 10_000;

/// Objects with options; all of their fields are read.
const OPTIONS: [&str; 2] = ["global options", "job options"];

/// Other fields that are read, at any depth.
const FIELDS: &str = "fio version, time, jobs, client_stats, hostname, global options, job options, disk_util, name, \
    jobname, groupid, error, latency_depth, job_start, read, write, mixed, trim, bw, bw_bytes, iops, clat_ns, clat, \
    lat_ns, lat, mean, max, percentile, 50.000000, 99.000000, 99.900000";

/// True if the text has keys that only fio prints.
pub(crate) fn recognise(text: &LogText) -> bool {
    let body = text.body();
    body.contains("\"fio version\"") || (body.contains("\"jobname\"") && body.contains("\"io_bytes\""))
}

/// Reads all documents in the text, one log for each computer.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let (documents, fault) = parse_documents(&replace_nan(text.body()));
    if documents.is_empty() {
        return Err(fault.unwrap_or_else(|| "its JSON has no jobs".to_owned()));
    }
    let mut logs = assemble::build_logs(documents);
    if logs.iter().all(|log| log.runs.is_empty()) {
        let why = logs.iter().find_map(|log| log.doubts.first()).cloned();
        return Err(why.unwrap_or_else(|| "its jobs did no I/O".to_owned()));
    }
    logs.retain(|log| !log.runs.is_empty());
    logs.iter_mut().for_each(|log| log.doubts.extend(fault.clone()));
    Ok(logs)
}

/// Replaces `nan` and `inf`, which old versions print for averages of nothing and which JSON does not allow.
fn replace_nan(body: &str) -> Cow<'_, str> {
    let (mut out, mut taken) = (String::new(), 0);
    for (at, _) in body.match_indices(':') {
        let value = body[at + 1..].strip_prefix(' ').unwrap_or(&body[at + 1..]);
        let numbers = ["-nan", "nan", "-inf", "inf"];
        if let Some(rest) = numbers.iter().find_map(|number| value.strip_prefix(number)) {
            out += &body[taken..at];
            out += ": null";
            taken = body.len() - rest.len();
        }
    }
    if taken == 0 { body.into() } else { (out + &body[taken..]).into() }
}

/// Reports in all JSON objects of the text, and what is wrong with the JSON.
fn parse_documents(body: &str) -> (Vec<FioDocument>, Option<String>) {
    let (mut documents, mut fault) = (Vec::new(), None);
    let (mut at, mut jobs, mut others) = (0, 0, 0);
    let with_jobs = body.contains("\"jobs\"");
    while let Some(open) = body[at..].find('{') {
        at += open;
        match json::parse_first(&body[at..], 2 * body.len(), FIELD_CHOICE) {
            Ok((value, length)) => {
                let read = documents_by_host(&value);
                jobs += read.iter().map(|document| document.jobs.len()).sum::<usize>();
                documents.extend(read);
                if jobs >= MOST_JOBS {
                    fault = Some(format!("only its first {MOST_JOBS} jobs were read"));
                    break;
                }
                at += length;
            }
            Err(error) if error.is_eof() => {
                fault = Some("its JSON is truncated; run fio again or get the whole log".to_owned());
                break;
            }
            Err(error) => {
                fault = fault.or_else(|| with_jobs.then(|| format!("its JSON is broken: {error}")));
                (at, others) = (at + 1, others + 1);
                if others > MOST_STRAY_BRACES {
                    break;
                }
            }
        }
    }
    (documents, fault)
}

/// Fields that are read below, with each job packed as text. The bins of `json+` and all other fields are skipped.
const FIELD_CHOICE: JsonChoice = JsonChoice {
    keeps: |within, field| OPTIONS.contains(&within) || FIELDS.split(", ").any(|known| known == field),
    packs: |list| list == "jobs" || list == "client_stats",
};

/// Splits the JSON of one start of fio into a document for each computer.
fn documents_by_host(value: &Value) -> Vec<FioDocument> {
    let entries = value.get("jobs").or_else(|| value.get("client_stats")).and_then(Value::as_array);
    let read = entries.into_iter().flatten().take(MOST_JOBS).filter_map(|entry| {
        let entry: Value = serde_json::from_str(entry.as_str()?).ok()?;
        let host = text_in(&entry, "hostname");
        Some((host.map(str::to_owned), parse_job(&entry, global_options(value, host))))
    });
    let hosts = group_by_key(read).into_iter().take(MOST_HOSTS);
    let read = hosts.map(|(host, jobs)| build_document(value, host, jobs.into_iter().flatten().collect()));
    read.filter(|document| !document.jobs.is_empty()).collect()
}

/// Options of all jobs, or those of one computer if several took part.
fn global_options<'v>(value: &'v Value, host: Option<&str>) -> Option<&'v Map<String, Value>> {
    match value.get("global options")? {
        Value::Array(all) => all.iter().find(|options| text_in(options, "hostname") == host)?.as_object(),
        one => one.as_object(),
    }
}

fn text_in<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

fn build_document(value: &Value, host: Option<String>, jobs: Vec<FioJob>) -> FioDocument {
    let disks = value.get("disk_util").and_then(Value::as_array).into_iter().flatten();
    FioDocument {
        version: text_in(value, "fio version").map(|name| name.trim_start_matches("fio-").to_owned()),
        date: text_in(value, "time").and_then(parse_date),
        jobs,
        disks: disks.filter_map(|disk| text_in(disk, "name").map(str::to_owned)).collect(),
        host,
    }
}

fn parse_job(entry: &Value, global: Option<&Map<String, Value>>) -> Option<FioJob> {
    let name = text_in(entry, "jobname").filter(|name| *name != TOTAL_ENTRY)?.to_owned();
    let number = |key: &str| entry.get(key).and_then(Value::as_u64);
    let own = entry.get("job options").and_then(Value::as_object);
    let mut options = JobOptions::default();
    for (key, value) in global.into_iter().chain(own).flatten() {
        options.set(key, value.as_str().unwrap_or_default());
    }
    options.is_complete |= own.is_some();
    if options.is_complete {
        // The options are complete here, and direct I/O is off by default.
        options.direct = options.direct.or(Some(false));
    } else {
        let depth = number("latency_depth").and_then(|depth| u32::try_from(depth).ok());
        options.depth = depth.filter(|depth| *depth > 0);
    }
    Some(FioJob {
        name,
        group: number("groupid").unwrap_or(0),
        options,
        count: 1,
        error: entry.get("error").and_then(Value::as_i64).unwrap_or(0),
        directions: DIRECTIONS.map(|direction| parse_direction(entry.get(direction)?)),
        discards: entry.get("trim").and_then(parse_direction).is_some(),
        start_key: number("job_start").map(|start| start.to_string()),
    })
}

/// Direction of a job; `None` if it moved nothing.
fn parse_direction(value: &Value) -> Option<JobDirection> {
    let number = |key: &str| value.get(key).and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
    let kib_s = number("bw")?;
    let bytes_s = number("bw_bytes").unwrap_or(kib_s * 1024.0);
    if bytes_s <= 0.0 {
        return None;
    }
    Some(JobDirection {
        bytes_s,
        iops: number("iops").unwrap_or(0.0),
        printed: ToolPrints { value: kib_s, unit: "KiB/s".to_owned() },
        latency_us: parse_latency(value, "mean"),
        max_latency_us: parse_latency(value, "max"),
        percentiles_us: parse_percentiles(value),
    })
}

/// Completion latency, else total latency, each with the units in a microsecond.
const LATENCY_KINDS: [(&str, f64); 4] = [("clat_ns", 1e3), ("clat", 1.0), ("lat_ns", 1e3), ("lat", 1.0)];

/// Percentiles of latency in microseconds. Old versions print unused ones as `0.00`.
fn parse_percentiles(side: &Value) -> LatencyPercentiles {
    let all = LATENCY_KINDS.iter().find_map(|(k, i)| Some((side.get(k)?.get("percentile")?.as_object()?, i)));
    let Some((all, in_us)) = all else { return LatencyPercentiles::default() };
    let of = |share: f64| {
        let (_, value) = all.iter().find(|(key, _)| key.parse() == Ok(share))?;
        value.as_f64().map(|time| time / in_us).filter(|us| us.is_finite() && *us > 0.0)
    };
    LatencyPercentiles { p50: of(50.0), p99: of(99.0), p999: of(99.9) }
}

/// Value of completion latency, else of total latency, in microseconds. fio prints 0 if it measured none.
fn parse_latency(side: &Value, key: &str) -> Option<f64> {
    let us = |(kind, in_us): &(&str, f64)| Some(side.get(kind)?.get(key)?.as_f64()? / in_us);
    LATENCY_KINDS.iter().filter_map(us).find(|us: &f64| us.is_finite() && *us > 0.0)
}
