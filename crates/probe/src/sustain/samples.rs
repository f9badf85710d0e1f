//! From slices to samples of a second, which are what is kept.

use super::run::Taken;
use cardscope_model::statistics::median;
use cardscope_model::sustain::{Phase, Reading, Sample};
use cardscope_model::units::mb_per_s;

/// What gathers between two samples.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    bytes: [u64; 2],
    seconds: [f64; 2],
    reads_us: Vec<f64>,
    pings_us: Vec<f64>,
    /// A small read with writes under way, in µs.
    pub(super) among_us: Option<f64>,
    longest_gap_s: f64,
}

/// What is known when a sample is made.
#[derive(Debug, Clone)]
pub(super) struct Now {
    pub(super) at_s: f64,
    pub(super) phase: Phase,
    pub(super) written: u64,
    pub(super) read: u64,
    pub(super) temperatures: Vec<Reading>,
    pub(super) transitions: Option<(u32, u32)>,
}

impl Gathering {
    pub(super) fn add(&mut self, taken: &Taken) {
        let (slice, op) = (&taken.slice, usize::from(taken.writes));
        self.bytes[op] += slice.bytes;
        self.seconds[op] += slice.seconds;
        self.reads_us.extend(slice.probe_s.map(|s| s * 1e6));
        self.pings_us.extend(slice.ping_s.map(|s| s * 1e6));
        self.longest_gap_s = slice.gaps.iter().map(|g| g.seconds).fold(self.longest_gap_s, f64::max);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seconds == [0.0; 2]
    }

    /// The sample, and nothing gathered any more.
    pub(super) fn take(&mut self, now: Now) -> Sample {
        let all = std::mem::take(self);
        let speed = |op: usize| (all.seconds[op] > 0.0).then(|| mb_per_s(all.bytes[op], all.seconds[op]));
        Sample {
            at_s: now.at_s,
            phase: now.phase,
            write_mb_s: speed(1),
            read_mb_s: speed(0),
            bytes_written: now.written,
            bytes_read: now.read,
            read_us: median(&all.reads_us),
            read_while_writing_us: all.among_us,
            ping_us: median(&all.pings_us),
            longest_gap_s: all.longest_gap_s,
            temperatures: now.temperatures,
            t1_transitions: now.transitions.map(|t| t.0),
            t2_transitions: now.transitions.map(|t| t.1),
        }
    }
}
