//! Options of `sustain`, and the scope of a run: reads of the whole card, writes to a part or all of it without saving, or a
//! test file in a directory.

use crate::probe::sustain::{MIN_REGION, SustainOptions};
use cardscope_engine::target::{TargetInfo, TargetRegion};
use cardscope_model::sustain::{TemperatureLimits, WorkloadKind, WorkloadPattern};
use cardscope_model::units::{BinarySize, DecimalSize, GIB, MIB};
use cardscope_probing::context::ProbeLimits;
use cardscope_session::arguments::{parse_duration, parse_region, parse_size_argument};
use cardscope_session::consent::check_region;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::CommonOptions;
use cardscope_session::open_target::{OpenTarget, TargetType};
use cardscope_session::option_json;
use cardscope_session::options::WriteLimit;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Write or read for a long time: cache end, heat, stalls
///
/// Only reads a device or an image file, unless --erase or --region allows overwriting; overwrites simulated
/// cards, unless --read forbids it; in a directory it uses a file of its own. Ends when the speed is steady, or at --duration, --bytes or --max-temp.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(mut_arg("max_write", |most| most.help(
    "Write at most this much in total, e.g. 16G [default: 256M in a directory on the disk that holds the \
     running system]"
)))]
pub struct SustainRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    /// Only read
    #[arg(long, conflicts_with_all = ["write", "mixed"])]
    pub read: bool,
    /// Overwrite until the speed is steady, pause, write again, read. A device needs --erase or --region
    #[arg(long, conflicts_with = "mixed")]
    pub write: bool,
    /// Write and read in turn
    #[arg(long)]
    pub mixed: bool,
    /// 1 MiB sequential, or 4 KiB random
    #[arg(long, value_name = "PATTERN", default_value = "seq", value_parser = pattern_parser())]
    pub pattern: WorkloadPattern,
    /// Time limit, e.g. 90s, 10m, 2h; heat needs 5 to 70 minutes to show
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    #[serde(with = "option_json")]
    pub duration: Duration,
    /// Move at most this much, e.g. 64G, besides a few small reads
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub bytes: Option<u64>,
    #[command(flatten)]
    #[serde(flatten)]
    pub writing: WriteLimit,
    /// Overwrite this region without saving its data, and nothing outside of it, e.g. 1G+32G
    #[arg(long, value_name = "START+LEN", value_parser = parse_region)]
    #[serde(with = "option_json")]
    pub region: Option<TargetRegion>,
    /// Overwrite the card without saving its data. All data on it is lost
    #[arg(long)]
    pub erase: bool,
    /// Size of the file in a directory, e.g. 8G
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub size: Option<u64>,
    /// Cooling, for comparisons: active, passive …
    #[arg(long, value_name = "WORD")]
    pub cooling: Option<String>,
    /// Part that is cooled: card, reader, host-controller, soc
    #[arg(long, value_name = "PLACE")]
    pub cooling_of: Option<String>,
    /// External thermometer: PLACE=cmd:COMMAND, PLACE=csv:FILE, PLACE=csv:FILE#COLUMN or PLACE=ask
    /// (repeatable); a PLACE that begins with "card" counts as the card's
    #[arg(long = "thermometer", value_name = "PLACE=SOURCE")]
    #[serde(skip)]
    pub thermometers: Vec<String>,
    /// Stop when the card reaches this temperature, in °C
    #[arg(long = "max-temp", value_name = "CELSIUS")]
    pub max_celsius: Option<f64>,
    /// Compare with an earlier run: its session, or a file made with --json
    #[arg(long = "against", value_name = "SESSION|FILE")]
    #[serde(skip)]
    pub baseline: Option<String>,
}

impl SustainRequest {
    /// Workload that the user requests. By default it writes if no data can be lost or if the user allows it, else it reads.
    fn requested_work(&self) -> Option<WorkloadKind> {
        match (self.read, self.write, self.mixed) {
            (true, ..) => Some(WorkloadKind::Read),
            (_, true, _) => Some(WorkloadKind::Write),
            (_, _, true) => Some(WorkloadKind::Mixed),
            _ => None,
        }
    }
}

fn pattern_parser() -> impl TypedValueParser<Value = WorkloadPattern> {
    // The longer words are those of JSON.
    let words = [("seq", "sequential", "1 MiB sequential"), ("rnd", "random", "4 KiB random")];
    let words = words.map(|(word, long, help)| PossibleValue::new(word).alias(long).help(help));
    PossibleValuesParser::new(words).map(|word| match word.as_str() {
        "seq" | "sequential" => WorkloadPattern::Sequential,
        _ => WorkloadPattern::Random,
    })
}

/// Default size of the test file, if there is room: four times the caches of common USB sticks and UHS-I cards.
const DEFAULT_FILE_BYTES: u64 = 16 * GIB;

/// Largest share of the free space for the test file in percent, because full cards behave differently.
const MAX_FILE_PERCENT: u64 = 80;

/// Workload of a run. Refuses contradictory options and writes that would lose data without permission.
pub(super) fn checked_work(request: &SustainRequest, target: TargetType) -> Result<WorkloadKind> {
    let (directory, simulated) = (target == TargetType::Directory, target == TargetType::Simulated);
    let frees = request.erase || request.region.is_some();
    let freely = if directory || simulated || frees { WorkloadKind::Write } else { WorkloadKind::Read };
    let work = request.requested_work().unwrap_or(freely);
    let (writes, sized) = (work != WorkloadKind::Read, request.size.is_some());
    let impossible_heat = request.max_celsius.is_some_and(|c| !(0.0..=150.0).contains(&c));
    Failure::refuse_first(&[
        (request.erase && request.region.is_some(), "give either --erase or --region"),
        (
            directory && frees,
            "--erase and --region need a device, not a directory; name the card's device (`cardscope list`)",
        ),
        (sized && !directory, "--size is for directories; for a device give --region START+LEN"),
        (request.erase && !writes, "--read conflicts with --erase"),
        (
            writes && !directory && !simulated && !frees,
            "a long write loses the data there: give --erase (loses everything) or --region START+LEN \
             (loses that region), or --read to only read",
        ),
        (impossible_heat, "--max-temp is a temperature in °C from 0 to 150"),
        (request.bytes == Some(0), "--bytes must be more than 0"),
    ])?;
    Ok(work)
}

/// True if the target is opened for writing. Directories are opened in the same way in both cases.
pub(super) fn opens_for_writing(request: &SustainRequest) -> bool {
    let frees = request.erase || request.region.is_some();
    request.requested_work().map_or(request.common.is_simulated() || frees, |work| work != WorkloadKind::Read)
}

pub(super) struct SustainScope<'a> {
    request: &'a SustainRequest,
    work: WorkloadKind,
    region: TargetRegion,
    is_test_file: bool,
    whole_card: bool,
}

impl<'a> SustainScope<'a> {
    /// Determines the scope on an open target.
    /// # Errors
    /// Refuses a target or region that is too small, a region outside the target, or a directory without room for a file.
    pub(super) fn prepare(request: &'a SustainRequest, opened: &mut OpenTarget) -> Result<Self> {
        let work = checked_work(request, opened.target_type())?;
        let &TargetInfo { bytes, sector, whole_card, .. } = opened.target.info();
        let (name, is_test_file) = (&request.common.target, opened.is_directory());
        let region = match request.region {
            _ if is_test_file => create_test_file(request, work, opened, bytes)?,
            None => TargetRegion { start: 0, len: bytes - bytes % u64::from(sector) },
            Some(region) => check_region(region, name, bytes, sector).map(|()| region)?,
        };
        if region.len < MIN_REGION {
            let (size, least) = (BinarySize(region.len), BinarySize(MIN_REGION));
            return Err(Failure::refused(format!(
                "{name}: {size} are too little for a long run, which needs at least {least}"
            )));
        }
        Ok(SustainScope { request, work, region, is_test_file, whole_card })
    }

    pub(super) fn sustain_options(&self, opened: &OpenTarget, seed: u64) -> SustainOptions {
        let seed = cardscope_model::random::mix_bits(seed);
        SustainOptions {
            limits: ProbeLimits { seed, region: self.region, max_write: None, budget: None },
            work: self.work,
            pattern: self.request.pattern,
            duration: self.request.duration,
            bytes: self.request.bytes,
            max_celsius: self.request.max_celsius,
            card_limits: card_temperature_limits(opened),
            card_bytes: self.whole_card.then(|| opened.target.info().bytes),
            is_test_file: self.is_test_file,
        }
    }

    /// Cost of the run, before it begins.
    pub(super) fn plan_line(&self, opened: &OpenTarget) -> String {
        let (region, from) = (DecimalSize(self.region.len), self.region.start);
        let time = match self.request.duration.as_secs() {
            seconds @ 0..120 => format!("{seconds} s"),
            seconds => format!("{} min", seconds.div_ceil(60)),
        };
        let reads = self.work == WorkloadKind::Read;
        let what = match reads {
            _ if self.is_test_file => {
                format!("uses a file of its own of {region}, which is removed at the end")
            }
            false => format!("overwrites {region} from byte {from}; all data there is lost"),
            true if self.request.requested_work().is_some() => "reads only, writes nothing".to_owned(),
            true => "reads only, writes nothing: --erase or --region START+LEN tests writes, too".to_owned(),
        };
        // The test file is written before the workload, whose writes only time limits without --bytes.
        let prepared = if self.is_test_file { self.region.len } else { 0 };
        let written = match (prepared, if reads { Some(0) } else { self.request.bytes }) {
            (0, Some(0)) => String::new(),
            (prepared, Some(worked)) => format!("; writes up to {}", DecimalSize(prepared + worked)),
            (0, None) => "; writes as much as possible in that time".to_owned(),
            (_, None) => format!("; writes {region}, and as much as possible in that time"),
        };
        let limit = opened.limit.warning_text().filter(|_| !written.is_empty());
        let limit = limit.map(|words| format!("; {words}")).unwrap_or_default();
        format!("up to {time}; {what}{written}{limit}")
    }
}

/// Least bytes of a run that shows the end of a cache or heat, unless the user sets a lower limit.
fn min_workload_bytes(request: &SustainRequest) -> u64 {
    let half = request.writing.max_write.map(|most| most / 2);
    request.bytes.or(half).unwrap_or(DEFAULT_FILE_BYTES)
}

/// Temperature limits that the card reports.
fn card_temperature_limits(opened: &OpenTarget) -> TemperatureLimits {
    let Some(nvme) = opened.identity.as_ref().and_then(|i| i.nvme.as_ref()) else {
        return TemperatureLimits::default();
    };
    let (identify, features) = (nvme.identify.as_ref(), &nvme.features);
    TemperatureLimits {
        tmpth_celsius: features.tmpth_celsius.map(f64::from),
        tmt1_celsius: features.tmt1_celsius.map(f64::from),
        tmt2_celsius: features.tmt2_celsius.map(f64::from),
        warning_celsius: identify.and_then(|i| i.wctemp_celsius).map(f64::from),
        critical_celsius: identify.and_then(|i| i.cctemp_celsius).map(f64::from),
    }
}

/// Creates a test file of the requested size, or as large as there is room.
fn create_test_file(
    request: &SustainRequest,
    work: WorkloadKind,
    opened: &mut OpenTarget,
    free: u64,
) -> Result<TargetRegion> {
    // A file that is only read must be written first, which should not take longer than the run itself.
    let most = if work == WorkloadKind::Write { DEFAULT_FILE_BYTES } else { GIB };
    let mut wanted = request.size.unwrap_or((free / 100 * MAX_FILE_PERCENT).min(most));
    if let Some(left) = opened.limit.bytes_left() {
        let least = if work == WorkloadKind::Read { 0 } else { min_workload_bytes(request) };
        if request.size.is_none() {
            wanted = wanted.min(left.saturating_sub(least));
        }
        let needed = wanted.max(MIN_REGION) + least;
        if needed > left {
            return Err(opened.limit.refuse_write("a long run", needed));
        }
    }
    let area = opened.target.area(wanted / MIB * MIB);
    area.map_err(|e| Failure::refused_for(format!("{e}; nothing was written"), e))
}
