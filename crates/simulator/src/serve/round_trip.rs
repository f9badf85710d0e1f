//! Round trip of the host itself, through the kernel and two threads: measured when a card is mounted, and subtracted
//! from each wait, so that a client sees the card's time. Measured twice, since a thread that slept for a millisecond
//! wakes later than one that just ran, on a busy machine by a factor of three.

use super::delay::SHORT_WAIT;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Measurements of each round trip.
const PROBES: usize = 48;

/// Pause in which both threads fall asleep, as between the commands of a slow card.
const PROBE_PAUSE: Duration = Duration::from_millis(1);

/// Delay of the answer to a probe, as by a fast card. A client that waits this long wakes later than after an immediate
/// answer: by 18 µs instead of 6 µs on a virtual machine.
const PROBE_DELAY: Duration = Duration::from_micros(50);

/// Longest plausible round trip; a longer one means a busy machine.
const MAX_ROUND_TRIP: Duration = Duration::from_micros(100);

/// Round trips in nanoseconds; 0 before they are measured.
#[derive(Debug)]
pub(super) struct HostRoundTrip {
    start: Instant,
    /// Round trip if a reader of requests ran a moment ago.
    awake: AtomicU64,
    /// Round trip if it slept.
    asleep: AtomicU64,
    /// Last activity of a reader of requests, in nanoseconds from `start`.
    last: AtomicU64,
    /// True while probes are answered.
    measuring: AtomicBool,
}

impl HostRoundTrip {
    pub(super) fn unmeasured() -> HostRoundTrip {
        HostRoundTrip {
            start: Instant::now(),
            awake: AtomicU64::default(),
            asleep: AtomicU64::default(),
            last: AtomicU64::default(),
            measuring: AtomicBool::default(),
        }
    }

    /// Delay of the answer to a probe; None while none is measured.
    pub(super) fn probe_delay(&self) -> Option<Duration> {
        self.measuring.load(Ordering::Relaxed).then_some(PROBE_DELAY)
    }

    /// Measures both round trips by reads that are answered after [`Self::probe_delay`]; measures nothing if the file cannot
    /// be read.
    pub(super) fn measure_round_trips(&self, file: &Path) {
        let Ok(file) = File::open(file) else { return };
        self.measuring.store(true, Ordering::Relaxed);
        let both = || {
            std::thread::sleep(PROBE_PAUSE);
            let asleep = time_probe(&file)?;
            // This probe wakes both threads.
            time_probe(&file)?;
            Some((asleep, time_probe(&file)?))
        };
        let (asleep, awake) = (0..PROBES).map_while(|_| both()).unzip();
        self.measuring.store(false, Ordering::Relaxed);
        self.set_round_trips(lower_quartile(awake), lower_quartile(asleep));
    }

    fn set_round_trips(&self, awake: Duration, asleep: Duration) {
        self.awake.store(nanos(awake.min(MAX_ROUND_TRIP)), Ordering::Relaxed);
        self.asleep.store(nanos(asleep.min(MAX_ROUND_TRIP)), Ordering::Relaxed);
    }

    /// Half of the round trip of a request that arrives at `seen`: it was sent that much earlier, and its answer takes
    /// as long.
    pub(super) fn half_trip(&self, seen: Instant) -> Duration {
        let last = self.start + Duration::from_nanos(self.last.load(Ordering::Relaxed));
        let slept = seen.saturating_duration_since(last) > SHORT_WAIT;
        let way = if slept { &self.asleep } else { &self.awake };
        Duration::from_nanos(way.load(Ordering::Relaxed) / 2)
    }

    /// Records when the answer known at `now` is given. A reader that waits for a short answer itself reads the next
    /// request then; longer answers are given by another thread.
    pub(super) fn record_answer(&self, due: Instant, now: Instant) {
        let last = if due < now + SHORT_WAIT { due.max(now) } else { now };
        self.last.store(nanos(last.saturating_duration_since(self.start)), Ordering::Relaxed);
    }
}

/// Lower quartile, so that a busy moment during the measurement does not make all later answers early.
fn lower_quartile(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 4).copied().unwrap_or_default()
}

fn time_probe(file: &File) -> Option<Duration> {
    let began = Instant::now();
    file.read_at(&mut [0; 4096], 0).ok()?;
    Some(began.elapsed().saturating_sub(PROBE_DELAY))
}

fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const AWAKE: Duration = Duration::from_micros(10);
    const ASLEEP: Duration = Duration::from_micros(40);

    #[test]
    fn longer_trip_applies_after_sleep() {
        let path = HostRoundTrip::unmeasured();
        path.set_round_trips(AWAKE, ASLEEP);
        let now = Instant::now();
        assert_eq!(path.half_trip(now + 2 * SHORT_WAIT), ASLEEP / 2, "the first request");
        path.record_answer(now + SHORT_WAIT / 2, now);
        assert_eq!(
            path.half_trip(now + SHORT_WAIT),
            AWAKE / 2,
            "it has waited for the last answer by itself"
        );
        assert_eq!(path.half_trip(now + 2 * SHORT_WAIT), ASLEEP / 2);
        path.record_answer(now + 1000 * SHORT_WAIT, now);
        assert_eq!(path.half_trip(now), AWAKE / 2, "a second request in flight");
        assert_eq!(
            path.half_trip(now + 1000 * SHORT_WAIT),
            ASLEEP / 2,
            "it slept while another thread waited"
        );
    }

    #[test]
    fn unmeasured_trip_is_zero_and_long_one_is_capped() {
        let path = HostRoundTrip::unmeasured();
        path.measure_round_trips(Path::new("/nowhere"));
        assert_eq!(path.half_trip(Instant::now()), Duration::ZERO);
        path.set_round_trips(Duration::from_secs(1), Duration::from_secs(1));
        assert_eq!(path.half_trip(Instant::now()), MAX_ROUND_TRIP / 2);
        let times = [9, 1, 2, 9].map(Duration::from_micros);
        assert_eq!((lower_quartile(times.to_vec()), lower_quartile(Vec::new())), (times[2], Duration::ZERO));
    }
}
