//! How much work something is, for tests that must not grow with the square of a log's length: time of the processor,
//! which is the same on a busy computer.

/// Clock ticks a second in `/proc`, the same on every Linux (`USER_HZ`, proc(5)).
const TICKS: f64 = 100.0;

/// Seconds of processor time that work takes.
pub(crate) fn seconds_of<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = used();
    let done = work();
    (used() - before, done)
}

/// User time of this thread: the fourteenth field of its `stat`, the twelfth behind its name.
fn used() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, behind_name) = stat.rsplit_once(')').unwrap();
    behind_name.split_whitespace().nth(11).unwrap().parse::<f64>().unwrap() / TICKS
}
