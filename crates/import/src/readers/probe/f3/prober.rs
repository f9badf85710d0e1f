//! f3probe: verdict and geometry of a device.

use crate::readers::{PrintedAmount, binary_bytes, parse_amount, parse_seconds, text_between};
use cardscope_model::verify::Verdict;
use serde_json::{Map, Value, json};

/// Output of f3probe.
#[derive(Debug, Default)]
pub(super) struct F3Probe {
    device: Option<String>,
    verdict: Option<Verdict>,
    usable: Option<PrintedSize>,
    announced: Option<PrintedSize>,
    cache: Option<PrintedSize>,
    needs_reset: Option<bool>,
    module_power: Option<u32>,
    block_power: Option<u32>,
    last_good_sector: Option<u64>,
    seconds: Option<f64>,
    operations: Map<String, Value>,
}

#[derive(Debug, Clone, Copy)]
struct PrintedSize {
    /// Printed size, in bytes.
    printed_bytes: f64,
    blocks: u64,
}

/// Block sizes of devices, as powers of two: 512 bytes to 64 KiB.
const BLOCK_POWERS: std::ops::RangeInclusive<u32> = 9..=16;

impl F3Probe {
    /// Parses a line; returns false if it is not of this f3probe.
    pub(super) fn parse_probe_line(&mut self, line: &str) -> bool {
        if let Some((device, verdict)) = parse_verdict(line) {
            let first = self.verdict.is_none();
            if first {
                (self.device, self.verdict) = (Some(device.to_owned()), Some(verdict));
            }
            return first;
        }
        if let Some(command) = line.strip_prefix("f3fix --last-sec=") {
            self.last_good_sector = command.split_whitespace().next().and_then(|n| n.parse().ok());
            return true;
        }
        let Some((name, value)) = line.split_once(':') else { return false };
        self.read_field(name.trim(), value.trim())
    }

    fn read_field(&mut self, name: &str, value: &str) -> bool {
        match name {
            "*Usable* size" if self.usable.is_none() => self.usable = parse_size(value),
            "Announced size" if self.announced.is_none() => self.announced = parse_size(value),
            "Module" => self.module_power = parse_power(value),
            "Approximate cache size" => {
                self.cache = parse_size(value);
                self.needs_reset = value.split_once("need-reset=").map(|(_, word)| word.starts_with("yes"));
            }
            "Physical block size" => self.block_power = parse_power(value),
            "Probe time" => self.seconds = parse_seconds(value),
            "Read" | "Write" | "Reset" if self.announced.is_some() => {
                self.operations.extend(parse_operation(value).map(|known| (name.to_lowercase(), known)));
            }
            _ => return false,
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.verdict.is_none() && self.announced.is_none()
    }

    /// Bytes of a block: as printed, else the power of two for which number of blocks and size agree.
    fn block_bytes(&self) -> Option<u64> {
        let printed = self.block_power.filter(|power| BLOCK_POWERS.contains(power));
        let fits = |power: &u32| {
            let size = self.announced.filter(|size| size.blocks > 0);
            let bytes = |size: PrintedSize| size.blocks as f64 * f64::from(1u32 << power);
            size.is_some_and(|size| (bytes(size) / size.printed_bytes - 1.0).abs() < 0.25)
        };
        printed.or_else(|| BLOCK_POWERS.clone().find(fits)).map(|power| 1 << power)
    }

    fn size_bytes(&self, size: Option<PrintedSize>) -> Option<u64> {
        size?.blocks.checked_mul(self.block_bytes()?)
    }

    pub(super) fn announced_bytes(&self) -> Option<u64> {
        self.size_bytes(self.announced)
    }

    /// Result in the form of `verify`.
    pub(super) fn to_document(&self) -> Value {
        json!({
            "device": self.device,
            "verdict": self.verdict.unwrap_or(Verdict::Inconclusive),
            "announced_bytes": self.announced_bytes(),
            "usable_bytes": self.size_bytes(self.usable),
            "cache_bytes": self.size_bytes(self.cache),
            "block_bytes": self.block_bytes(),
            "announced_blocks": self.announced.map(|size| size.blocks),
            "usable_blocks": self.usable.map(|size| size.blocks),
            "cache_blocks": self.cache.map(|size| size.blocks),
            "module_bytes": self.module_power.and_then(|power| 1u64.checked_shl(power)),
            "needs_reset": self.needs_reset,
            "last_good_sector": self.last_good_sector,
            "seconds": self.seconds,
            "operations": self.operations,
        })
    }

    /// Doubts a verdict that f3probe before version 10 gets wrong: it reports the power of two at or above half of the announced
    /// size as the real size whenever its first bad answer lies above (f3's issue 243).
    pub(super) fn size_doubt(&self, version: Option<&str>) -> Option<String> {
        let (usable, announced) = (self.usable?.blocks, self.announced?.blocks);
        let major: u32 = version.and_then(|v| v.split('.').next()).and_then(|v| v.parse().ok()).unwrap_or(0);
        let middle = (announced / 2).checked_next_power_of_two()?;
        let suspect = major < 10 && self.verdict == Some(Verdict::Limbo) && usable == middle;
        let doubt = "f3probe before version 10 prints this size for any fault in the upper half, so the card may be larger";
        suspect.then(|| doubt.to_owned())
    }
}

pub(super) fn is_own_line(line: &str) -> bool {
    parse_verdict(line).is_some() || line.starts_with("*Usable* size:") && parse_size(line).is_some()
}

/// ``Bad news: The device `/dev/sdb' is a counterfeit of type limbo``
pub(super) fn parse_verdict(line: &str) -> Option<(&str, Verdict)> {
    let (device, text) = line.split_once("news: The device `")?.1.split_once("' is ")?;
    let verdict = match text.trim_end_matches(['.', ' ']) {
        "the real thing" => Verdict::Genuine,
        "damaged" => Verdict::Damaged,
        "a counterfeit of type limbo" => Verdict::Limbo,
        "a counterfeit of type wraparound" => Verdict::Wraparound,
        "a counterfeit of type chain" => Verdict::Chain,
        _ => return None,
    };
    Some((device, verdict))
}

fn parse_size(text: &str) -> Option<PrintedSize> {
    let text = text.strip_prefix("*Usable* size:").unwrap_or(text);
    let PrintedAmount { value, unit } = parse_amount(text)?;
    let blocks = text_between(text, "(", " blocks)")?.parse().ok()?;
    Some(PrintedSize { printed_bytes: value * binary_bytes(unit)?, blocks })
}

/// Power in `32.00 GB (2^35 Bytes)`.
fn parse_power(text: &str) -> Option<u32> {
    text_between(text, "(2^", " ")?.parse().ok().filter(|power| *power < 64)
}

/// Parses `347.8ms / 4815 = 72us`.
fn parse_operation(text: &str) -> Option<Value> {
    let count: u64 = text_between(text, " / ", " = ")?.trim().parse().ok()?;
    Some(json!({"seconds": parse_seconds(text.split_once(" / ")?.0)?, "count": count}))
}
