//! Holds the cores awake while cards are in use, since waking a core takes longer than a command of a fast card: a
//! round trip through FUSE took 70 µs on a development machine, and 7 µs with cores held awake. Uses
//! `/dev/cpu_dma_latency` (kernel documentation, PM QoS). A kernel without a cpuidle driver has no use for it; there,
//! threads spin on idle cores instead.

use super::delay::set_precise_wakeups;
use super::{LagMeasure, ServingOptions};
use cardscope_engine::thread_priority;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const CPU_LATENCY_FILE: &str = "/dev/cpu_dma_latency";
const IDLE_DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";

/// Time after the last command for which the cores are held awake.
const AWAKE_TIME: Duration = Duration::from_secs(1);

/// Spinning without a pause: about as long as the scheduler lets a thread run before another one. A core that pauses
/// sleeps and wakes late, most of all on a virtual machine.
const SPIN_TIME: Duration = Duration::from_millis(3);

/// Pause for threads that wait for the core. Idle priority orders threads within a session only (sched(7), autogroup):
/// the kernel's workers, without which no I/O ends, and other sessions wait even for a spinning thread.
const SPIN_PAUSE: Duration = Duration::from_micros(1);

/// Holds the cores awake until it is dropped.
#[derive(Debug)]
pub(super) struct CpuLatencyGuard {
    _latency: Option<File>,
    spinning: Option<Arc<SpinnerState>>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct SpinnerState {
    start: Instant,
    /// Milliseconds from `start` to the last command.
    last: AtomicU64,
    resting: AtomicBool,
    is_over: AtomicBool,
    rest: Mutex<()>,
    wake: Condvar,
}

impl CpuLatencyGuard {
    /// Takes the measures that the options allow and the host permits.
    pub(super) fn new(options: &ServingOptions) -> CpuLatencyGuard {
        let latency = options.has_measure(LagMeasure::LatencyHold).then(hold_latency).flatten();
        let mut awake = CpuLatencyGuard { _latency: latency, spinning: None, threads: Vec::new() };
        if options.has_measure(LagMeasure::Spinner) && !has_idle_driver() {
            awake.start_spinners();
        }
        awake
    }

    fn start_spinners(&mut self) {
        let spinning = Arc::new(SpinnerState {
            start: Instant::now(),
            last: AtomicU64::default(),
            resting: AtomicBool::default(),
            is_over: AtomicBool::default(),
            rest: Mutex::default(),
            wake: Condvar::new(),
        });
        let allowed = sched_getaffinity(None).unwrap_or_default();
        for core in (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)) {
            let theirs = Arc::clone(&spinning);
            let builder = std::thread::Builder::new().name(format!("card-awake-{core}"));
            self.threads.extend(builder.spawn(move || theirs.spin_on_core(core)));
        }
        self.spinning = Some(spinning);
    }

    #[inline]
    pub(super) fn wake_cores(&self) {
        let Some(spinning) = &self.spinning else { return };
        spinning.last.store(spinning.elapsed_ms(), Ordering::Relaxed);
        if spinning.resting.load(Ordering::Relaxed) {
            spinning.wake_spinners();
        }
    }
}

impl Drop for CpuLatencyGuard {
    fn drop(&mut self) {
        if let Some(spinning) = &self.spinning {
            spinning.is_over.store(true, Ordering::Relaxed);
            spinning.wake_spinners();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl SpinnerState {
    fn wake_spinners(&self) {
        let _rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        self.resting.store(false, Ordering::Relaxed);
        self.wake.notify_all();
    }

    /// Spins on one core at the lowest priority. A thread that cannot have that priority ends, since it would take time
    /// from others.
    fn spin_on_core(&self, core: usize) {
        let mut only = CpuSet::new();
        only.set(core);
        if thread_priority::run_when_idle().is_err() || sched_setaffinity(None, &only).is_err() {
            return;
        }
        // Pauses of a microsecond need precise timers.
        set_precise_wakeups(false);
        while !self.is_over.load(Ordering::Relaxed) {
            let began = Instant::now();
            while began.elapsed() < SPIN_TIME {
                std::hint::spin_loop();
            }
            if self.is_idle() {
                self.wait_for_command();
            } else {
                std::thread::sleep(SPIN_PAUSE);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.elapsed_ms().saturating_sub(self.last.load(Ordering::Relaxed)) > AWAKE_TIME.as_millis() as u64
    }

    fn wait_for_command(&self) {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        self.resting.store(true, Ordering::Relaxed);
        let idle = |_: &mut ()| self.resting.load(Ordering::Relaxed) && !self.is_over.load(Ordering::Relaxed);
        drop(self.wake.wait_while(rest, idle));
    }

    fn elapsed_ms(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }
}

/// Requests a latency of 0, which lasts as long as the file is open. Only root may do so.
fn hold_latency() -> Option<File> {
    let mut file = OpenOptions::new().write(true).open(CPU_LATENCY_FILE).ok()?;
    file.write_all(&0i32.to_ne_bytes()).ok()?;
    Some(file)
}

fn has_idle_driver() -> bool {
    std::fs::read_to_string(IDLE_DRIVER).is_ok_and(|driver| driver.trim() != "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu_time() -> Duration {
        let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
    }

    #[test]
    fn spinners_rest_a_second_after_last_command() {
        let mut awake = CpuLatencyGuard::new(&ServingOptions { timing: false, ..ServingOptions::default() });
        awake.start_spinners();
        awake.wake_cores();
        std::thread::sleep(AWAKE_TIME + Duration::from_millis(500));
        let (rested, before) = (Instant::now(), cpu_time());
        std::thread::sleep(Duration::from_millis(300));
        let share = (cpu_time() - before).as_secs_f64() / rested.elapsed().as_secs_f64();
        assert!(awake.spinning.as_ref().is_some_and(|s| s.resting.load(Ordering::Relaxed)), "{share}");
        awake.wake_cores();
        assert!(awake.spinning.as_ref().is_some_and(|s| !s.resting.load(Ordering::Relaxed)));
    }
}
