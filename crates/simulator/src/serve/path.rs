//! The host's own way to a served card and back, through the kernel and two threads: measured once it is mounted, so
//! that it can be taken off each answer's wait and the client sees the card's time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

const PROBES: usize = 48;

/// Between two probes both sides go to sleep, as they do between the commands of a slow card.
const PAUSE: Duration = Duration::from_millis(1);

/// More than this is not the way but a busy machine.
const MOST: Duration = Duration::from_micros(100);

/// Time of a read that is answered at once. The lower quartile, so that a busy moment does not make answers early
/// ever after; nothing where the file cannot be read.
pub(super) fn measure(file: &Path) -> Duration {
    let Ok(file) = File::open(file) else { return Duration::ZERO };
    let mut times: Vec<Duration> = (0..PROBES).map_while(|_| probe(&file)).collect();
    times.sort_unstable();
    times.get(times.len() / 4).copied().unwrap_or_default().min(MOST)
}

fn probe(file: &File) -> Option<Duration> {
    std::thread::sleep(PAUSE);
    let began = Instant::now();
    file.read_at(&mut [0; 4096], 0).ok()?;
    Some(began.elapsed())
}
