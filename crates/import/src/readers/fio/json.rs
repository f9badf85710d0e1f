//! fio's JSON of any version: `--output-format=json` and `json+`, alone or among other output, once or many times.
//!
//! Since version 3 `bw_bytes` is B/s and latencies are in nanoseconds; before, all amounts are KiB and latencies
//! microseconds. `bw` is KiB/s in all. What is no JSON there is known too: keys that repeat, and `nan`.

use super::options::JobOptions;
use super::{DIRECTIONS, FioDocument, FioJob, JobDirection, assemble, by_key};
use crate::readers::dates::date;
use crate::readers::error::ReaderOutcome;
use crate::readers::json;
use crate::readers::json::JsonChoice;
use crate::readers::text::LogText;
use cardscope_model::result::ToolPrints;
use cardscope_model::run::LatencyPercentiles;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The entry with which a fio server adds up its clients.
const TOTAL: &str = "All clients";

/// Jobs of one file that are read, and computers: far more than anybody runs.
const MOST_JOBS: usize = 50_000;
const MOST_HOSTS: usize = 1000;

/// Braces with which no JSON begins, after which no more is looked for: each may nest a hundred others.
const MOST_OTHERS: usize = 10_000;

/// What holds options; all of them are read.
const OPTIONS: [&str; 2] = ["global options", "job options"];

/// The other fields that are read, wherever they stand.
const FIELDS: &str = "fio version, time, jobs, client_stats, hostname, global options, job options, disk_util, name, \
    jobname, groupid, error, latency_depth, job_start, read, write, mixed, trim, bw, bw_bytes, iops, clat_ns, clat, \
    lat_ns, lat, mean, max, percentile, 50.000000, 99.000000, 99.900000";

/// True where fio's own keys stand in it.
pub(crate) fn recognise(text: &LogText) -> bool {
    let body = text.body();
    body.contains("\"fio version\"") || (body.contains("\"jobname\"") && body.contains("\"io_bytes\""))
}

/// Reads all documents in the text as one log.
pub(crate) fn read(text: &LogText) -> ReaderOutcome {
    let (documents, fault) = documents(&without_nan(text.body()));
    if documents.is_empty() {
        return Err(fault.unwrap_or_else(|| "its JSON has no jobs".to_owned()));
    }
    let mut logs = assemble::logs(documents);
    if logs.iter().all(|log| log.runs.is_empty()) {
        let why = logs.iter().find_map(|log| log.doubts.first()).cloned();
        return Err(why.unwrap_or_else(|| "its jobs did no I/O".to_owned()));
    }
    logs.retain(|log| !log.runs.is_empty());
    logs.iter_mut().for_each(|log| log.doubts.extend(fault.clone()));
    Ok(logs)
}

/// Old versions print averages of nothing as `nan`, which JSON does not know.
fn without_nan(body: &str) -> Cow<'_, str> {
    let (mut out, mut taken) = (String::new(), 0);
    for (at, _) in body.match_indices(':') {
        let value = body[at + 1..].strip_prefix(' ').unwrap_or(&body[at + 1..]);
        if let Some(number) =
            ["-nan", "nan", "-inf", "inf"].into_iter().find(|number| value.starts_with(number))
        {
            out += &body[taken..at];
            out += ": null";
            taken = body.len() - value.len() + number.len();
        }
    }
    if taken == 0 { body.into() } else { (out + &body[taken..]).into() }
}

/// What each JSON object in the text says of jobs, whatever stands between them; and what is wrong with the last.
fn documents(body: &str) -> (Vec<FioDocument>, Option<String>) {
    let (mut documents, mut fault) = (Vec::new(), None);
    let (mut at, mut jobs, mut others) = (0, 0, 0);
    let with_jobs = body.contains("\"jobs\"");
    while let Some(open) = body[at..].find('{') {
        at += open;
        match json::first(&body[at..], 2 * body.len(), READ) {
            Ok((value, length)) => {
                let read = of_hosts(&value);
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
                let broken = || with_jobs.then(|| format!("its JSON is broken: {error}"));
                fault = fault.or_else(broken);
                at += 1;
                others += 1;
                if others > MOST_OTHERS {
                    break;
                }
            }
        }
    }
    (documents, fault)
}

/// The fields that are asked for below, each job by itself; the bins of `json+` and all else is read past.
const READ: JsonChoice = JsonChoice {
    keeps: |within, field| OPTIONS.contains(&within) || FIELDS.split(", ").any(|known| known == field),
    packs: |list| list == "jobs" || list == "client_stats",
};

/// What one start of fio says of each computer that took part; without clients it is one.
fn of_hosts(value: &Value) -> Vec<FioDocument> {
    let entries = value.get("jobs").or_else(|| value.get("client_stats")).and_then(Value::as_array);
    let read = entries.into_iter().flatten().take(MOST_JOBS).filter_map(|entry| {
        let entry: Value = serde_json::from_str(entry.as_str()?).ok()?;
        let host = entry.get("hostname").and_then(Value::as_str).map(str::to_owned);
        let job = job(&entry, global_options(value, host.as_deref()));
        Some((host, job))
    });
    let hosts = by_key(read).into_iter().take(MOST_HOSTS);
    let read = hosts.map(|(host, jobs)| document(value, host, jobs.into_iter().flatten().collect()));
    read.filter(|document| !document.jobs.is_empty()).collect()
}

/// The options that hold for all jobs: those of one computer where several took part.
fn global_options<'v>(value: &'v Value, host: Option<&str>) -> Option<&'v Map<String, Value>> {
    match value.get("global options")? {
        Value::Array(all) => {
            let of_host = |options: &&Value| options.get("hostname").and_then(Value::as_str) == host;
            all.iter().find(of_host)?.as_object()
        }
        one => one.as_object(),
    }
}

fn document(value: &Value, host: Option<String>, jobs: Vec<FioJob>) -> FioDocument {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let disks = value.get("disk_util").and_then(Value::as_array).into_iter().flatten();
    FioDocument {
        version: text("fio version").map(|version| version.trim_start_matches("fio-").to_owned()),
        date: text("time").and_then(date),
        jobs,
        disks: disks.filter_map(|disk| disk.get("name")?.as_str().map(str::to_owned)).collect(),
        host,
    }
}

fn job(entry: &Value, global: Option<&Map<String, Value>>) -> Option<FioJob> {
    let name = entry.get("jobname")?.as_str()?.to_owned();
    if name == TOTAL {
        return None;
    }
    let own = entry.get("job options").and_then(Value::as_object);
    let mut options = JobOptions::default();
    for (key, value) in global.into_iter().chain(own).flatten() {
        options.set(key, value.as_str().unwrap_or_default());
    }
    options.known |= own.is_some();
    if options.known {
        // What a job does not ask for it does not do.
        options.direct = options.direct.or(Some(false));
    }
    if !options.known {
        let depth = entry.get("latency_depth").and_then(Value::as_u64);
        options.depth = depth.and_then(|depth| u32::try_from(depth).ok()).filter(|depth| *depth > 0);
    }
    Some(FioJob {
        name,
        group: entry.get("groupid").and_then(Value::as_u64).unwrap_or(0),
        options,
        count: 1,
        error: entry.get("error").and_then(Value::as_i64).unwrap_or(0),
        sides: DIRECTIONS.map(|direction| side(entry.get(direction)?)),
        trims: entry.get("trim").and_then(side).is_some(),
        begun: entry.get("job_start").and_then(Value::as_u64).map(|start| start.to_string()),
    })
}

/// A direction in which something was moved.
fn side(value: &Value) -> Option<JobDirection> {
    let number = |key: &str| value.get(key).and_then(Value::as_f64).filter(|n| n.is_finite() && *n >= 0.0);
    let kib_s = number("bw")?;
    let bytes_s = number("bw_bytes").unwrap_or(kib_s * 1024.0);
    if bytes_s <= 0.0 {
        return None;
    }
    let latency = |key: &str| latency(value, key);
    Some(JobDirection {
        bytes_s,
        iops: number("iops").unwrap_or(0.0),
        printed: ToolPrints { value: kib_s, unit: "KiB/s".to_owned() },
        latency_us: latency("mean"),
        max_latency_us: latency("max"),
        percentiles_us: percentiles(value),
    })
}

/// Of completion latency, else of the whole, in microseconds. Old versions print each percentile under a key of its own, the
/// unused ones as `0.00`.
fn percentiles(side: &Value) -> LatencyPercentiles {
    let kinds = [("clat_ns", 1e3), ("clat", 1.0), ("lat_ns", 1e3), ("lat", 1.0)];
    let all =
        kinds.iter().find_map(|(kind, in_us)| Some((side.get(kind)?.get("percentile")?.as_object()?, in_us)));
    let Some((all, in_us)) = all else { return LatencyPercentiles::default() };
    let of = |share: f64| {
        let (_, value) = all.iter().find(|(key, _)| key.parse() == Ok(share))?;
        value.as_f64().map(|time| time / in_us).filter(|us| us.is_finite() && *us > 0.0)
    };
    LatencyPercentiles { p50: of(50.0), p99: of(99.0), p999: of(99.9) }
}

/// From completion latency, else from the whole, in microseconds; 0 is what fio prints where it measured none.
fn latency(side: &Value, key: &str) -> Option<f64> {
    let kinds = [("clat_ns", 1e3), ("clat", 1.0), ("lat_ns", 1e3), ("lat", 1.0)];
    let found = kinds.iter().filter_map(|(kind, in_us)| Some(side.get(kind)?.get(key)?.as_f64()? / in_us));
    found.into_iter().find(|us: &f64| us.is_finite() && *us > 0.0)
}
