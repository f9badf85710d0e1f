//! Distinguishes throttling from the end of the cache: by the card's own counters, else by reads, which heat slows
//! and a full cache does not (docs/reference/flash.md#causes-of-a-slow-spell).

use crate::probe::options::Result;
use crate::probe::span::{SMALL_BYTES, random_extents};
use crate::probe::write_tester::WriteTester;
use cardscope_model::card_map::property::PropertyEvidence;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::statistics::median;
use cardscope_model::units::{DecimalSize, SpeedMbS, three_digits};
use cardscope_statistics::speed_fall::SpeedFall;

const READS: usize = 16;

/// Reads slower by this factor than at the start mean throttling; a full cache adds at most 15 %
/// (docs/reference/flash.md#causes-of-a-slow-spell).
const HEAT_FACTOR: f64 = 1.18;

/// Light throttling leaves 0.67 to 0.83 of the write speed on real cards, so a larger drop has another cause.
const MIN_LIGHT_SHARE: f64 = 0.6;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HeatReading {
    written: u64,
    /// Median of 4 KiB reads, in seconds.
    read_s: Option<f64>,
    celsius: Option<f64>,
    /// Transitions to light and to heavy throttling, then seconds in each.
    throttling_counters: Option<[u32; 4]>,
}

impl HeatReading {
    /// Times reads within the first `bytes` of the written range, after `written` bytes in total.
    pub(super) fn take(bench: &mut WriteTester, start: u64, bytes: u64, written: u64) -> Result<HeatReading> {
        let mut times = Vec::new();
        if bytes >= u64::from(SMALL_BYTES) {
            for extent in random_extents(bench, start, bytes, READS) {
                if !bench.context.has_time(0.0) {
                    break;
                }
                times.extend(bench.context.time_read(extent)?);
            }
        }
        let throttling_counters = bench.context.health().map(|log| {
            [
                log.thermal_management_t1_transitions,
                log.thermal_management_t2_transitions,
                log.thermal_management_t1_seconds,
                log.thermal_management_t2_seconds,
            ]
        });
        let celsius = bench.context.temperature();
        Ok(HeatReading { written, read_s: median(&times), celsius, throttling_counters })
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct HeatSeries {
    readings: Vec<HeatReading>,
    throttled: Vec<SpeedFall>,
}

impl HeatSeries {
    pub(super) fn add(&mut self, look: HeatReading) {
        self.readings.push(look);
    }

    pub(super) fn add_throttling(&mut self, fall: SpeedFall) {
        self.throttled.push(fall);
    }

    /// True if throttling explains a drop to `ratio` of the speed after `written` bytes.
    pub(super) fn explains_drop(&self, ratio: f64, written: u64) -> bool {
        let Some(now) = self.readings.last() else { return false };
        let before = self.readings.iter().rev().find(|look| look.written < written).or(self.readings.first());
        let then = before.and_then(|look| look.throttling_counters);
        if let (Some(now), Some(then)) = (now.throttling_counters, then) {
            let (light, heavy) = (now[0] > then[0] || now[2] > then[2], now[1] > then[1] || now[3] > then[3]);
            return heavy || (light && ratio > MIN_LIGHT_SHARE);
        }
        ratio > MIN_LIGHT_SHARE && self.are_reads_slower(now)
    }

    fn are_reads_slower(&self, now: &HeatReading) -> bool {
        let first: Vec<f64> = self.readings.iter().filter_map(|l| l.read_s).take(3).collect();
        let (Some(now), Some(then)) = (now.read_s, median(&first)) else { return false };
        now > HEAT_FACTOR * then
    }

    pub(super) fn evidence(&self, evidence: PropertyEvidence) -> PropertyEvidence {
        let reads: Vec<f64> = self.readings.iter().filter_map(|l| l.read_s).collect();
        let first = reads.first().map(|s| ("4 KiB read at first", s * 1e6, "µs"));
        let last = reads.last().map(|s| ("4 KiB read at last", s * 1e6, "µs"));
        let highest = self.highest_celsius().map(|c| ("highest temperature", c, "°C"));
        evidence.with_numbers([first, last, highest].into_iter().flatten())
    }

    fn highest_celsius(&self) -> Option<f64> {
        self.readings.iter().filter_map(|l| l.celsius).reduce(f64::max)
    }

    pub(super) fn finding(&self) -> Option<Finding> {
        let first = self.throttled.first()?;
        let before = three_digits(first.before / 1e6);
        let verdict = "The card throttled from heat during the writes; its cache did not end.";
        let finding = Finding::new("throttling", FindingWeight::Note, 0.9, verdict)
            .because("after", DecimalSize(first.bytes as u64))
            .because("speed", format!("{before} to {}", SpeedMbS(first.after / 1e6)));
        let highest = self.highest_celsius().map(|c| format!("{c:.0} °C"));
        let finding = finding.because_some("highest temperature", highest);
        Some(finding.with_advice("Cool the card, and run `cardscope sustain` to see its speed under load."))
    }
}
