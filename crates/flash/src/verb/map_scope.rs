//! Range that a map may write: nothing, the whole card after saving it, a part or all of it without saving, or its
//! own file in a directory.

use crate::probe::{MapOptions, MapPart};
use cardscope_engine::target::TargetRegion;
use cardscope_model::random::mix_bits;
use cardscope_model::shell::shell_quote;
use cardscope_model::units::{DataAmount, KIB, MIB, option_size};
use cardscope_probing::context::ProbeLimits;
use cardscope_session::arguments::{parse_region, parse_size_argument};
use cardscope_session::consent::{check_region, region_text};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, SpendLimits, VerbSession};
use cardscope_session::open_target::{OpenTarget, TargetType};
use cardscope_session::option_json;
use clap::Args;
use serde::{Deserialize, Serialize};

/// Find out what is inside: page, erase block, cache, queue
///
/// Preserves the data on the card: each block is saved to a journal on another disk before it is overwritten,
/// then restored and checked. Ends with advice for partitions and file systems, ready to paste.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct MapRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: SpendLimits,
    /// Write nothing; measure only what reads show
    #[arg(long)]
    pub read_only: bool,
    /// Also test the start of the card, where partition table and FAT are (saved and restored)
    #[arg(long)]
    pub fat: bool,
    /// Overwrite this region without saving its data, and nothing outside of it, e.g. 1G+512M
    #[arg(long, value_name = "START+LEN", value_parser = parse_region)]
    #[serde(with = "option_json")]
    pub region: Option<TargetRegion>,
    /// Overwrite the card without saving its data, and write through to the end of its cache. All data on it
    /// is lost
    #[arg(long)]
    pub erase: bool,
    /// Stop looking for the end of the cache after this much, e.g. 8G [default: 64M where the data is
    /// preserved]
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub cache: Option<u64>,
    /// Search open blocks in units of this size instead of the measured erase block, e.g. 2M (-e of flashbench)
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub unit: Option<u64>,
    /// Also measure the tables of flashbench (-a, -f, -O, scatter), and print them in its layout
    #[arg(long)]
    pub flashbench: bool,
    /// Run only this part (repeatable): boundaries, read-curve, planes, queue, axis, page-writes,
    /// open-blocks,
    /// fat, span, write-curve, cache
    #[arg(long, value_name = "PART")]
    pub only: Vec<MapPart>,
    /// With --erase: format the card with each file system that this machine has, and measure small writes on
    /// it
    #[arg(long)]
    pub try_file_systems: bool,
}

impl MapRequest {
    pub(super) fn without_time_limit(&self) -> String {
        let mut command = format!("cardscope map {}", shell_quote(&self.common.target));
        let given = [
            (self.read_only, " --read-only"),
            (self.fat, " --fat"),
            (self.erase, " --erase"),
            (self.flashbench, " --flashbench"),
            (self.try_file_systems, " --try-file-systems"),
        ];
        command.extend(given.into_iter().filter_map(|(given, option)| given.then_some(option)));
        let region = |r: TargetRegion| format!(" --region {}+{}", option_size(r.start), option_size(r.len));
        command.extend(self.region.map(region));
        command.extend(self.cache.map(|most| format!(" --cache {}", option_size(most))));
        command.extend(self.unit.map(|unit| format!(" --unit {}", option_size(unit))));
        command.extend(self.only.iter().map(|part| format!(" --only {part}")));
        command + &self.common.repeat_options(self.limits.max_write())
    }
}

/// Refusal of `--read-only` in a directory.
pub const READ_ONLY_DIRECTORY: &str = "--read-only does not work in a directory, where the test file \
    must be written first; name the card's device (`cardscope list`)";

/// Bytes below which timing shows nothing.
const MIN_TARGET_BYTES: u64 = MIB;

/// Allowed values of `--unit`: from the smallest plausible erase block to the largest allocation unit of the SD
/// specification (docs/reference/sd.md#allocation-units), in steps that contain whole pages of every power of two.
const UNITS: std::ops::RangeInclusive<u64> = 256 * KIB..=64 * MIB;
const UNIT_STEP: u64 = 64 * KIB;

/// Most bytes of the cache test if data is saved and restored: enough for DRAM caches, and 20 s on a class 10 card
/// including saving and restoring.
const CACHE_BYTES_IF_SAVED: u64 = 64 * MIB;

/// Bytes that the other parts may save together. They write about 120 MiB, and 85 MiB around the card's start.
const OTHER_PARTS_BYTES: u64 = 256 * MIB;

/// Bytes that the flashbench tables save and write: some thirty erase blocks of 4 MiB in eleven sizes.
const TABLES_SAVED: u64 = 256 * MIB;
const TABLES_WRITTEN: u64 = 2048 * MIB;

/// Bytes of the test file in a directory: room for 32 open blocks of 4 MiB at a distance of four.
const TEST_FILE_BYTES: u64 = 512 * MIB;

/// Least useful test file. A map is refused if less than twice this may be written.
const MIN_TEST_FILE_BYTES: u64 = 32 * MIB;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MapScope {
    ReadOnly(TargetRegion),
    /// Everything, saved before and restored after.
    Preserved(TargetRegion),
    /// Range whose data is lost.
    Overwritten(TargetRegion),
    /// The test's own file.
    TestFile(TargetRegion),
}

/// Refuses contradictory options before anything is opened.
pub(super) fn check_options(request: &MapRequest, target: TargetType) -> Result<()> {
    let MapRequest { read_only, fat, region, erase, cache, unit, flashbench, only, try_file_systems, .. } =
        request;
    let directory = target == TargetType::Directory;
    let frees = *erase || region.is_some();
    let writes = frees || *fat || *try_file_systems || cache.is_some() || unit.is_some();
    Failure::refuse_first(&[
        (*erase && region.is_some(), "give either --erase or --region"),
        (
            *read_only && (writes || request.limits.max_write().is_some()),
            "--read-only conflicts with --erase, --region, --fat, --max-write, --cache, --unit and \
             --try-file-systems",
        ),
        (*try_file_systems && !erase, "--try-file-systems loses all data on the card, so it needs --erase"),
        (*fat && region.is_some(), "--fat conflicts with --region"),
        (directory && *read_only, READ_ONLY_DIRECTORY),
        (
            directory && frees,
            "--erase and --region need a device, not a directory; name the card's device (`cardscope list`)",
        ),
        (
            directory && *fat,
            "--fat needs a device, not a directory; name the card's device (`cardscope list`)",
        ),
        (
            unit.is_some_and(|unit| !UNITS.contains(&unit) || !unit.is_multiple_of(UNIT_STEP)),
            "--unit must be 256K to 64M, in whole multiples of 64K",
        ),
        (
            unit.is_some() && !(*flashbench || only.is_empty() || only.contains(&MapPart::OpenBlocks)),
            "--unit needs --only open-blocks or --flashbench to have an effect",
        ),
        (region.is_some_and(|r| r.len < MIN_TARGET_BYTES), "--region must be at least 1 MiB"),
    ])
}

impl MapScope {
    /// Determines the scope on an open target. Refuses a target that is too small, a region outside of it, and a
    /// full file system.
    pub(super) fn from_request(request: &MapRequest, session: &mut VerbSession<'_>) -> Result<MapScope> {
        let bytes = session.bytes();
        let target = &request.common.target;
        if bytes < MIN_TARGET_BYTES {
            let why = format!("{target} has only {bytes} bytes; map needs at least 1 MiB");
            return Err(Failure::refused(why));
        }
        let all = TargetRegion { start: 0, len: bytes };
        if session.opened.is_directory() {
            session.opened.limit_writes(request.limits.max_write());
            return create_test_file(request, session.opened, bytes).map(MapScope::TestFile);
        }
        if request.read_only {
            return Ok(MapScope::ReadOnly(all));
        }
        if let Some(region) = request.region {
            check_region(region, target, bytes, session.opened.target.info().sector)?;
            return Ok(MapScope::Overwritten(region));
        }
        Ok(if request.erase { MapScope::Overwritten(all) } else { MapScope::Preserved(all) })
    }

    pub(super) fn usable_region(&self) -> TargetRegion {
        let (MapScope::ReadOnly(region)
        | MapScope::Preserved(region)
        | MapScope::Overwritten(region)
        | MapScope::TestFile(region)) = self;
        *region
    }

    pub(super) fn probe_options(&self, request: &MapRequest, opened: &OpenTarget, seed: u64) -> MapOptions {
        let region = self.usable_region();
        let saved = matches!(self, MapScope::Preserved(_));
        let written_through = if saved { CACHE_BYTES_IF_SAVED } else { u64::MAX };
        MapOptions {
            limits: ProbeLimits {
                seed: mix_bits(seed),
                region,
                max_write: match self {
                    MapScope::TestFile(region) => Some(max_written_to_file(request, *region, opened)),
                    _ if saved => Some(max_bytes(request, TABLES_WRITTEN)),
                    _ => request.limits.max_write(),
                },
                budget: request.limits.budget,
            },
            card_addresses: !matches!(self, MapScope::TestFile(_)),
            writes: !matches!(self, MapScope::ReadOnly(_)),
            fat: request.fat,
            max_cache_bytes: request.cache.unwrap_or(written_through),
            claimed_unit: opened.identity.as_ref().and_then(|i| i.allocation_unit()).map(|unit| unit.bytes),
            open_block_unit: request.unit,
            flashbench_tables: request.flashbench,
            only: request.only.clone(),
        }
    }

    pub(super) fn plan_line(&self, options: &MapOptions, session: &VerbSession<'_>) -> String {
        let most = |bytes: u64| DataAmount(bytes >> 20 << 20);
        let limits = &options.limits;
        let limit = limits.max_write.unwrap_or(u64::MAX);
        let written = limit.min(limits.region.len.saturating_mul(2));
        match (self, &session.journal) {
            (MapScope::Preserved(_), Some(journal)) => {
                let (size, path) = (most(written), journal.path().display());
                format!("writes up to {size}; overwritten data is saved in {path} and restored")
            }
            (MapScope::TestFile(region), _) => {
                let (size, written) = (most(region.len), DataAmount(limit));
                let limit = session.opened.limit.warning_text().map(|words| format!("; {words}"));
                let limit = limit.unwrap_or_default();
                format!(
                    "uses a file of its own of {size} and writes up to {written}; no other file is touched{limit}"
                )
            }
            (MapScope::ReadOnly(_), _) => "reads only".to_owned(),
            (_, _) => format!("writes; all data in {} is lost", region_text(self.usable_region())),
        }
    }
}

/// Starts the journal of a map that preserves data. A refusal for lack of space names alternatives.
pub(super) fn begin_journal(request: &MapRequest, session: &mut VerbSession<'_>, salt: u64) -> Result<()> {
    // Flashbench tables write the same positions repeatedly, so they save less than they write.
    let room = max_bytes(request, TABLES_SAVED).min(session.bytes());
    session.begin_journal(room, salt).map_err(|failure| with_alternatives(failure, room))
}

fn max_bytes(request: &MapRequest, of_tables: u64) -> u64 {
    let beside = OTHER_PARTS_BYTES + if request.flashbench { of_tables } else { 0 };
    let all = request.cache.unwrap_or(CACHE_BYTES_IF_SAVED).saturating_add(beside);
    request.limits.max_write().unwrap_or(all)
}

fn create_test_file(request: &MapRequest, opened: &mut OpenTarget, free: u64) -> Result<TargetRegion> {
    let wanted = TEST_FILE_BYTES.max(request.cache.unwrap_or(0).saturating_add(OTHER_PARTS_BYTES / 4));
    let left = opened.limit.bytes_left().unwrap_or(u64::MAX);
    if left < 2 * MIN_TEST_FILE_BYTES {
        return Err(opened.limit.refuse_write("a map", 2 * TEST_FILE_BYTES));
    }
    let bytes = wanted.min(free / 2 / MIB * MIB).min(left / 2 / MIB * MIB).max(MIN_TARGET_BYTES);
    opened.target.area(bytes).map_err(Failure::refused)
}

/// Most bytes written to the test file: it is filled, then written about once more, plus single tests.
fn max_written_to_file(request: &MapRequest, region: TargetRegion, opened: &OpenTarget) -> u64 {
    let most = 2 * region.len + OTHER_PARTS_BYTES;
    let limits = [request.limits.max_write(), opened.limit.bytes_left()];
    limits.into_iter().flatten().fold(most, u64::min)
}

fn with_alternatives(failure: Failure, room: u64) -> Failure {
    let Failure::Refused(why) = failure else { return failure };
    let words = format!(
        "{why}; or write less than {} (--max-write), only read (--read-only), or allow data loss (--region \
         START+LEN, --erase)",
        DataAmount(room)
    );
    Failure::refused_for(words, why)
}
