//! Facts from the script's other sections: registers of a card, which count only if their capacity agrees with the tested
//! card's, and dd and hdparm as runs: pass k of each section is run k.

use super::parts::{LogPart, PartHeading};
use crate::readers::identity::facts::{card_facts, given_registers};
use crate::readers::speed::{dd, hdparm};
use cardscope_model::identity::{HexRegisters, Identity, from_hex};
use cardscope_model::log::CardLog;
use cardscope_model::run::{Run, TestFigure};
use cardscope_model::units::group_digits;
use cardscope_sd::bus::find_bus_mode;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Tested device as the script names it.
#[derive(Debug, Default)]
pub(super) struct ScriptFacts<'a> {
    /// Path, such as `/dev/mmcblk0`.
    pub(super) device: Option<&'a str>,
    /// Size according to fdisk.
    bytes: Option<u64>,
}

impl ScriptFacts<'_> {
    /// True for a card in a built-in slot, false for a reader.
    pub(super) fn is_in_slot(&self) -> Option<bool> {
        self.device.map(|device| device.contains("mmcblk"))
    }
}

pub(super) fn find_device<'a>(parts: &[LogPart<'a>]) -> ScriptFacts<'a> {
    let device = parts.iter().find_map(|part| part.title?.strip_prefix("Device:")).map(str::trim);
    let partitions = parts.iter().filter(|part| part.heading == PartHeading::Partitions);
    let bytes = partitions.flat_map(|part| &part.lines).find_map(|line| fdisk_bytes(line, device?));
    ScriptFacts { device, bytes }
}

/// Bytes in `Disk /dev/sdf: 7902 MB, 7902068736 bytes`, in any language.
fn fdisk_bytes(line: &str, device: &str) -> Option<u64> {
    let (_, rest) = line.split_once(device).filter(|(before, _)| !before.is_empty())?;
    rest.split_once(':')?.1.split(',').nth(1)?.split_whitespace().next()?.parse().ok()
}

/// Sets capacity and identity, or adds a doubt if the identity is of another card.
pub(super) fn add_identity(tested: &ScriptFacts<'_>, parts: &[LogPart<'_>], log: &mut CardLog) {
    log.card.capacity_bytes = tested.bytes;
    let mut lines = parts.iter().flat_map(|part| part.lines.first());
    let Some(line) = lines.find(|line| line.starts_with("man:")) else { return };
    match decode_registers(line) {
        Err(why) => log.doubts.push(format!("the card's registers could not be read: {why}")),
        Ok(identity) => match mismatch_reason(tested, &identity) {
            Some(why) => {
                log.doubts.push(format!("{why}; its registers are under slot_identity"));
                log.other.insert("slot_identity".into(), Value::Object(given_registers(&identity)));
            }
            None => {
                log.card.fill_missing_from(&card_facts(&identity));
                log.other.extend(given_registers(&identity));
            }
        },
    }
}

fn decode_registers(line: &str) -> Result<Identity, String> {
    let value = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
    let hex = HexRegisters { cid: value("cid:"), csd: value("csd:"), ..HexRegisters::default() };
    from_hex(hex).map_err(|error| error.to_string())
}

/// Reason why the identity is not the tested card's, if it is not.
fn mismatch_reason(tested: &ScriptFacts<'_>, identity: &Identity) -> Option<String> {
    let device = tested.device.unwrap_or("the device");
    match (tested.bytes, identity.capacity_bytes) {
        (Some(fdisk), Some(csd)) if fdisk != csd => {
            let (csd, fdisk) = (group_digits(csd), group_digits(fdisk));
            let sizes = format!("({csd} bytes; fdisk reports {fdisk} for {device})");
            Some(format!("the registers are from another card {sizes}: the script reads the built-in slot"))
        }
        (None, _) if tested.is_in_slot() == Some(false) => {
            let reads = format!("the script reads the built-in slot, but {device} is in a reader");
            Some(format!("the registers may be from another card: {reads}"))
        }
        _ => None,
    }
}

/// Adds the runs, failed copies, and doubts about results from a cache.
pub(super) fn add_runs(parts: &[LogPart<'_>], tested: &ScriptFacts<'_>, log: &mut CardLog) {
    let mut runs: BTreeMap<u32, Vec<TestFigure>> = BTreeMap::new();
    let mut failures = Vec::new();
    for part in parts {
        let (figures, failed) = read_part(part);
        runs.entry(part.run).or_default().extend(figures);
        failures.extend(failed);
    }
    mark_cached(runs.values_mut().flatten(), tested.is_in_slot() == Some(true), log);
    let filled = runs.into_values().filter(|results| !results.is_empty());
    log.runs = filled.zip(1..).map(|(results, run)| Run { run, results, ..Run::default() }).collect();
    if !failures.is_empty() {
        log.doubts.push(format!("{} dd copies failed", failures.len()));
        log.other.insert("dd_failures".into(), Value::Array(failures));
    }
}

/// Figures of a part, and its failed copies.
fn read_part(part: &LogPart<'_>) -> (Vec<TestFigure>, Vec<Value>) {
    match &part.heading {
        PartHeading::Hdparm => (hdparm::timed_reads(part.lines.iter().copied()), Vec::new()),
        PartHeading::Dd(op, block, step) => {
            let all = dd::find_results(part.lines.iter().copied());
            let failures = all.iter().filter(|copy| copy.has_failed()).map(|copy| {
                json!({"run": part.run, "op": op.to_string(), "step": step, "bytes": copy.copied.bytes,
                    "seconds": copy.copied.seconds, "error": copy.error})
            });
            let figures = all.iter().filter_map(|copy| copy.to_figure(Some((*op, *block)), step));
            (figures.collect(), failures.collect())
        }
        _ => Default::default(),
    }
}

/// Marks figures that no bus can carry as page cache, so that they do not count as the card's.
fn mark_cached<'a>(figures: impl Iterator<Item = &'a mut TestFigure>, in_slot: bool, log: &mut CardLog) {
    // Linux drives a built-in slot up to SDR104; a reader may be UHS-II.
    let fastest = if in_slot { "SDR104" } else { "UHS-II HD312" };
    let Some(most) = find_bus_mode(fastest).map(|mode| mode.ceiling_mb_s) else { return };
    let mut count = 0;
    for figure in figures.filter(|figure| figure.mb_s > most) {
        figure.step = Some(format!("{}, page cache", figure.step.as_deref().unwrap_or("dd")));
        count += 1;
    }
    let why = format!("the bus ({fastest}: {most} MB/s): the page cache answered, not the card");
    log.doubts.extend((count > 0).then(|| format!("{count} results exceed {why}")));
}
