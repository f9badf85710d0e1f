//! The host's own way to a served card and back, through the kernel and two threads: measured once it is mounted, so that it
//! can be taken off each answer's wait and the client sees the card's time. A thread that slept for a millisecond is woken
//! later than one that did a moment ago, on a busy machine by three times as much: each way is measured both times.

use super::delay::SHORT;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often each way is measured.
const PROBES: usize = 48;

/// Before a probe both sides go to sleep, as they do between the commands of a slow card.
const PAUSE: Duration = Duration::from_millis(1);

/// How long the answer to a probe is held back, as a fast card's is. Who has waited for so long is woken later than by an answer
/// at once: by 18 µs and not 6 µs on a virtual machine.
const HELD: Duration = Duration::from_micros(50);

/// More than this is not the way but a busy machine.
const MOST: Duration = Duration::from_micros(100);

/// Both ways, in nanoseconds; no time before they are measured.
#[derive(Debug)]
pub(super) struct HostRoundTrip {
    start: Instant,
    /// Where a reader of requests was awake a moment ago.
    awake: AtomicU64,
    /// Where it slept.
    asleep: AtomicU64,
    /// When one was last awake, in nanoseconds from `start`.
    last: AtomicU64,
    /// While probes are answered.
    measuring: AtomicBool,
}

impl HostRoundTrip {
    pub(super) fn unknown() -> HostRoundTrip {
        HostRoundTrip {
            start: Instant::now(),
            awake: AtomicU64::new(0),
            asleep: AtomicU64::new(0),
            last: AtomicU64::new(0),
            measuring: AtomicBool::new(false),
        }
    }

    /// How long the answer to a read beside the card is held back.
    pub(super) fn held(&self) -> Option<Duration> {
        self.measuring.load(Ordering::Relaxed).then_some(HELD)
    }

    /// Measures both by reads whose answers are held back for [`Self::held`]; nothing where the file cannot be read.
    pub(super) fn measure(&self, file: &Path) {
        let Ok(file) = File::open(file) else { return };
        self.measuring.store(true, Ordering::Relaxed);
        let both = || {
            std::thread::sleep(PAUSE);
            let asleep = probe(&file)?;
            // The first one wakes both sides.
            probe(&file)?;
            Some((asleep, probe(&file)?))
        };
        let (asleep, awake) = (0..PROBES).map_while(|_| both()).unzip();
        self.measuring.store(false, Ordering::Relaxed);
        self.know(quiet(awake), quiet(asleep));
    }

    fn know(&self, awake: Duration, asleep: Duration) {
        self.awake.store(nanos(awake.min(MOST)), Ordering::Relaxed);
        self.asleep.store(nanos(asleep.min(MOST)), Ordering::Relaxed);
    }

    /// Half of the way of a request that is seen now: it set out that much before, and its answer arrives that much after it
    /// is given.
    pub(super) fn half(&self, seen: Instant) -> Duration {
        let last = self.start + Duration::from_nanos(self.last.load(Ordering::Relaxed));
        let slept = seen.saturating_duration_since(last) > SHORT;
        let way = if slept { &self.asleep } else { &self.awake };
        Duration::from_nanos(way.load(Ordering::Relaxed) / 2)
    }

    /// Notes when an answer is given that is known now: who waits for a short one by itself reads the next request thereafter,
    /// else another thread gives it.
    pub(super) fn answered(&self, due: Instant, now: Instant) {
        let last = if due < now + SHORT { due.max(now) } else { now };
        self.last.store(nanos(last.saturating_duration_since(self.start)), Ordering::Relaxed);
    }
}

/// The lower quartile, so that a busy moment does not make answers early ever after.
fn quiet(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 4).copied().unwrap_or_default()
}

fn probe(file: &File) -> Option<Duration> {
    let began = Instant::now();
    file.read_at(&mut [0; 4096], 0).ok()?;
    Some(began.elapsed().saturating_sub(HELD))
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
    fn a_reader_that_slept_is_given_the_time_of_waking_up_and_one_that_did_not_is_not() {
        let path = HostRoundTrip::unknown();
        path.know(AWAKE, ASLEEP);
        let now = Instant::now();
        assert_eq!(path.half(now + 2 * SHORT), ASLEEP / 2, "the first request");
        path.answered(now + SHORT / 2, now);
        assert_eq!(path.half(now + SHORT), AWAKE / 2, "it has waited for the last answer by itself");
        assert_eq!(path.half(now + 2 * SHORT), ASLEEP / 2);
        path.answered(now + 1000 * SHORT, now);
        assert_eq!(path.half(now), AWAKE / 2, "a second request in flight");
        assert_eq!(path.half(now + 1000 * SHORT), ASLEEP / 2, "it slept while another thread waited");
    }

    #[test]
    fn a_way_that_is_not_known_takes_nothing_and_a_busy_machine_is_none() {
        let path = HostRoundTrip::unknown();
        path.measure(Path::new("/nowhere"));
        assert_eq!(path.half(Instant::now()), Duration::ZERO);
        path.know(Duration::from_secs(1), Duration::from_secs(1));
        assert_eq!(path.half(Instant::now()), MOST / 2);
        let times = [9, 1, 2, 9].map(Duration::from_micros);
        assert_eq!((quiet(times.to_vec()), quiet(Vec::new())), (times[2], Duration::ZERO));
    }
}
