//! Facts, events and samples of a sustained run.
//!
//! Samples of long runs are merged: longest gaps, highest temperatures and byte counts are preserved; speeds and
//! latencies become means weighted by time.

use crate::series::{Thinned, ThinnedSeries};
use serde::{Deserialize, Serialize};

/// Period of nearly constant speed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedLevel {
    pub op: String,
    /// Median speed of its slices.
    pub mb_s: f64,
    pub ci95: [f64; 2],
    pub from_s: f64,
    pub to_s: f64,
    pub bytes: u64,
    /// `steady` (the only level), `fast`, `cache full`, `hot`, `cache full and hot` or `slower`.
    pub state: String,
}

/// Cache freed by a pause.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PauseRecovery {
    pub pause_s: f64,
    /// Bytes that were fast again.
    pub bytes: u64,
    /// True if the test ended before the freed cache was full, so that there is more.
    pub at_least: bool,
    /// Bytes freed per second of pause, in MB/s.
    pub mb_s: f64,
    pub speed_mb_s: f64,
}

/// Stalls of the card's internal housekeeping.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CardStalls {
    pub count: u64,
    pub per_gb: f64,
    /// 95 % interval of `per_gb` (Poisson).
    pub per_gb_ci95: [f64; 2],
    pub median_s: f64,
    pub p99_s: f64,
    pub longest_s: f64,
    pub share: f64,
    pub between_mb_s: f64,
    pub period: Option<StallPeriod>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StallPeriod {
    pub bytes: u64,
    pub confidence: f64,
}

/// Step of the speed that heat explains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ThermalStep {
    pub at_s: f64,
    pub seconds: f64,
    pub celsius: Option<f64>,
    /// Speed over that of the cool level.
    pub speed_ratio: f64,
    pub read_ratio: Option<f64>,
    pub counted: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ThrottleFacts {
    /// Start, in seconds of load.
    pub after_s: f64,
    pub at_celsius: Option<f64>,
    pub share: f64,
    pub steps: Vec<ThermalStep>,
    pub t1_transitions: Option<u32>,
    pub t2_transitions: Option<u32>,
    pub t1_seconds: Option<u32>,
    pub t2_seconds: Option<u32>,
    pub confidence: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TemperatureLimits {
    pub tmpth_celsius: Option<f64>,
    pub tmt1_celsius: Option<f64>,
    pub tmt2_celsius: Option<f64>,
    pub warning_celsius: Option<f64>,
    pub critical_celsius: Option<f64>,
}

/// Bursts of other load on bus or host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostInterference {
    pub bursts: u64,
    pub seconds: f64,
    /// Duration of a command without flash access, in bursts over outside of them.
    pub ping_ratio: f64,
    pub speed_ratio: f64,
}

/// Steady state over the last five rounds, as in the SNIA's specification.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyState {
    /// True if the range is at most 20 % of the mean, and the fitted line changes by at most 10 % of it.
    pub reached: bool,
    pub mb_s: f64,
    /// Highest less lowest round, as a share of the mean.
    pub spread: f64,
    /// Change of the fitted line over the window, as a share of the mean.
    pub slope: f64,
    pub round_s: f64,
    pub from_s: f64,
}

/// Latency of small reads at queue depth 1, without and with concurrent writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadLatency {
    pub alone_p50_us: Option<f64>,
    pub alone_p99_us: Option<f64>,
    pub writing_p50_us: Option<f64>,
    pub writing_p99_us: Option<f64>,
    pub writing_max_us: Option<f64>,
}

worded! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EventKind: words {
        CacheEnd = "the cache is full",
        CacheRecovered = "the cache has room again",
        Throttled = "heat slows the card",
        CooledDown = "no longer slowed by heat",
        StallsBegin = "stalls begin",
        LongestStall = "the longest stall",
        Disturbed = "other load on the bus or this computer",
        SteadyState = "steady state",
        Pause = "pause begins",
        RecoveredUsedUp = "the cache freed by the pause is full",
        TooHot = "the temperature limit is reached",
        Slower = "slower for an unknown reason",
        Experiment = "pause to tell heat from a full cache",
        NoAnswer = "long stall",
        NoMoreWrites = "the card accepts no more writes",
        NoMoreReads = "the card answers no more reads",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SustainEvent {
    pub kind: EventKind,
    pub at_s: f64,
    /// Bytes written by the workload so far; of a run of reads, bytes read.
    pub at_bytes: u64,
    pub confidence: f64,
    pub evidence: Vec<(String, String)>,
}

impl SustainEvent {
    pub fn new(kind: EventKind, at_s: f64, at_bytes: u64, confidence: f64) -> Self {
        SustainEvent { kind, at_s, at_bytes, confidence, evidence: Vec::new() }
    }

    pub fn because(mut self, what: &str, value: impl ToString) -> Self {
        self.evidence.push((what.to_owned(), value.to_string()));
        self
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunPhase {
    #[default]
    Main,
    Pause,
    Again,
    Reading,
    /// Pause that distinguishes heat from a full cache.
    Experiment,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlacedTemperature {
    /// Sensor: `card (NVMe composite)`, `SoC`, `reader` …
    pub place: String,
    pub celsius: f64,
}

impl PlacedTemperature {
    pub fn is_of_card(&self) -> bool {
        self.place.starts_with("card")
    }
}

/// Sample of one second or of one long I/O; of several seconds in runs of more than six hours.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SustainSample {
    pub at_s: f64,
    pub phase: RunPhase,
    pub write_mb_s: Option<f64>,
    pub read_mb_s: Option<f64>,
    pub bytes_written: u64,
    pub bytes_read: u64,
    /// Median latency of small reads at queue depth 1, without other I/O.
    pub read_us: Option<f64>,
    pub read_while_writing_us: Option<f64>,
    /// Duration of a command without flash access.
    pub ping_us: Option<f64>,
    pub longest_gap_s: f64,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub temperatures: Vec<PlacedTemperature>,
    pub t1_transitions: Option<u32>,
    pub t2_transitions: Option<u32>,
}

/// Most samples of a run: one per second for six hours.
const MOST_SAMPLES: usize = 21_600;

pub type SampleSeries = ThinnedSeries<SustainSample>;

impl Thinned for SustainSample {
    const MOST: usize = MOST_SAMPLES;

    fn has_room(&self, next: &SustainSample, width: u32, pushed: u32) -> bool {
        pushed < width && self.can_merge(next)
    }

    fn can_merge(&self, next: &SustainSample) -> bool {
        self.phase == next.phase
    }

    fn merge(self, next: SustainSample, before: Option<&SustainSample>) -> SustainSample {
        let began_s = before.map_or(0.0, |before| before.at_s);
        let (here, there) = (self.at_s - began_s, next.at_s - self.at_s);
        let mean = |here_is: Option<f64>, there_is: Option<f64>| match (here_is, there_is) {
            (Some(a), Some(b)) if here + there > 0.0 => Some((a * here + b * there) / (here + there)),
            (a, b) => b.or(a),
        };
        SustainSample {
            write_mb_s: mean(self.write_mb_s, next.write_mb_s),
            read_mb_s: mean(self.read_mb_s, next.read_mb_s),
            read_us: mean(self.read_us, next.read_us),
            read_while_writing_us: mean(self.read_while_writing_us, next.read_while_writing_us),
            ping_us: mean(self.ping_us, next.ping_us),
            longest_gap_s: self.longest_gap_s.max(next.longest_gap_s),
            temperatures: merge_highest(self.temperatures, next.temperatures),
            t1_transitions: next.t1_transitions.or(self.t1_transitions),
            t2_transitions: next.t2_transitions.or(self.t2_transitions),
            at_s: next.at_s,
            phase: next.phase,
            bytes_written: next.bytes_written,
            bytes_read: next.bytes_read,
        }
    }
}

fn merge_highest(mut of: Vec<PlacedTemperature>, then: Vec<PlacedTemperature>) -> Vec<PlacedTemperature> {
    for reading in then {
        match of.iter_mut().find(|known| known.place == reading.place) {
            Some(known) => known.celsius = known.celsius.max(reading.celsius),
            None => of.push(reading),
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = MOST_SAMPLES as u32;

    /// Number of the sample with the longest gap and the highest temperature.
    const WORST: u32 = 54_321;

    /// Samples of 1.0 to 1.3 s with 30 or 50 MB/s, and reads in every third.
    fn samples(count: u32) -> Vec<SustainSample> {
        let mut at_s = 0.0;
        let sample = |number: u32| {
            at_s += 1.0 + f64::from(number * 7 % 31) / 100.0;
            SustainSample {
                at_s,
                write_mb_s: Some(if number.is_multiple_of(2) { 30.0 } else { 50.0 }),
                read_us: number.is_multiple_of(3).then_some(800.0),
                bytes_written: u64::from(number) * 40_000_000,
                longest_gap_s: if number == WORST { 9.0 } else { 0.0 },
                temperatures: vec![PlacedTemperature {
                    place: "card".into(),
                    celsius: if number == WORST { 71.5 } else { 40.0 },
                }],
                ..SustainSample::default()
            }
        };
        (1..=count).map(sample).collect()
    }

    #[test]
    fn six_hours_of_samples_are_not_merged() {
        let all = samples(MOST);
        assert_eq!(SampleSeries::from(all.clone())[..], all);
        assert_eq!(SampleSeries::from(samples(MOST + 1)).len(), MOST_SAMPLES / 2 + 1);
    }

    #[test]
    fn week_of_samples_is_merged_and_preserves_extremes() {
        let all = samples(600_000);
        let kept = SampleSeries::from(all.clone());
        assert!((MOST_SAMPLES / 2..=MOST_SAMPLES).contains(&kept.len()), "{}", kept.len());
        let (end, last) = (kept.last().unwrap(), all.last().unwrap());
        assert_eq!((end.at_s, end.bytes_written), (last.at_s, last.bytes_written));
        let each = all.len().div_ceil(kept.len()).next_power_of_two();
        for (row, part) in kept.iter().zip(all.chunks(each)) {
            assert_eq!(row.at_s, part[part.len() - 1].at_s, "each row has as many samples");
        }
        let worst = &all[WORST as usize - 1];
        let row = kept.iter().position(|row| row.longest_gap_s == 9.0).unwrap();
        assert!((kept[row - 1].at_s..=kept[row].at_s).contains(&worst.at_s));
        assert_eq!(kept.iter().position(|row| row.temperatures[0].celsius == 71.5), Some(row));
        let speeds = kept.iter().take(kept.len() - 1).filter_map(|row| row.write_mb_s);
        assert!(speeds.into_iter().all(|speed| (speed - 40.0).abs() < 1.0));
        assert!(kept.iter().all(|row| row.read_us.is_none_or(|us| (us - 800.0).abs() < 1e-6)));
    }

    #[test]
    fn samples_of_two_phases_are_never_merged() {
        let pause = MOST - 9..MOST;
        let phase = |number| if pause.contains(&number) { RunPhase::Pause } else { RunPhase::Main };
        let all = (1..).zip(samples(30_000)).map(|(number, s)| SustainSample { phase: phase(number), ..s });
        let all: Vec<SustainSample> = all.collect();
        let kept: SampleSeries = all.iter().cloned().collect();
        let ends = |rows: &[SustainSample]| {
            let last = rows.iter().rposition(|row| row.phase == RunPhase::Pause).unwrap();
            (rows[last].at_s, rows[last].bytes_written)
        };
        assert_eq!(ends(&kept), ends(&all));
        assert!(kept.windows(2).all(|two| two[0].at_s < two[1].at_s));
    }

    #[test]
    fn unbounded_series_of_earlier_versions_are_thinned() {
        let text = serde_json::to_string(&samples(30_000)).unwrap();
        let read: SampleSeries = serde_json::from_str(&text).unwrap();
        assert_eq!(read.len(), SampleSeries::from(samples(30_000)).len());
        assert!(read.len() < MOST_SAMPLES);
        let again: SampleSeries = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
        assert_eq!(again, read);
    }
}
