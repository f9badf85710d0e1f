//! The temperature of a card while it is measured: read once a second by a thread of its own, so that asking
//! for it costs a measurement nothing.

use crate::block::BlockDevice;
use crate::hwmon;
use crate::nvme;
use crate::system::System;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The kernel asks the card at most once a second itself (`drivers/nvme/host/hwmon.c`).
const INTERVAL: Duration = Duration::from_secs(1);

/// Stands for "no reading" among thousandths of °C.
const UNKNOWN: i64 = i64::MIN;

/// Where the reading comes from.
#[derive(Debug, Clone)]
enum Source {
    Hwmon(PathBuf),
    /// For kernels without NVMe hwmon; needs root.
    Smart(PathBuf),
}

impl Source {
    fn read(&self) -> Option<f64> {
        match self {
            Source::Hwmon(dir) => hwmon::celsius(dir, "temp1_input"),
            Source::Smart(device) => nvme::composite_celsius(device),
        }
    }
}

/// A thermometer at work; it stops when dropped.
#[derive(Debug)]
pub struct Thermometer {
    latest: Arc<AtomicI64>,
    stop: Arc<(Mutex<bool>, Condvar)>,
    worker: Option<JoinHandle<()>>,
}

/// A reading that can be taken along into a measuring thread.
#[derive(Debug, Clone)]
pub struct Reading(Arc<AtomicI64>);

impl Reading {
    /// The latest temperature in °C; `None` before the first and after a failed reading.
    #[must_use]
    pub fn celsius(&self) -> Option<f64> {
        let value = self.0.load(Ordering::Relaxed);
        (value != UNKNOWN).then(|| value as f64 / 1000.0)
    }
}

impl Thermometer {
    /// The thermometer of a device, if it has one: NVMe cards do, SD cards and USB readers do not.
    #[must_use]
    pub fn find(system: &System, device: &str) -> Option<Thermometer> {
        let disk = BlockDevice::find(system, device)?.disk();
        let by_hwmon = hwmon::of_nvme(system, &disk).map(Source::Hwmon);
        let by_smart = || {
            (system.is_live()).then(|| nvme::controller_device(system, &disk)).flatten().map(Source::Smart)
        };
        let source = by_hwmon.filter(|source| source.read().is_some()).or_else(by_smart)?;
        let first = source.read()?;
        Some(Thermometer::start(source, first))
    }

    fn start(source: Source, first: f64) -> Thermometer {
        let latest = Arc::new(AtomicI64::new(thousandths(Some(first))));
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let (shared, ending) = (latest.clone(), stop.clone());
        let worker = std::thread::Builder::new().name("thermometer".into()).spawn(move || {
            while !wait(&ending, INTERVAL) {
                shared.store(thousandths(source.read()), Ordering::Relaxed);
            }
        });
        // Without a thread the first reading would stand for ever: better none.
        if worker.is_err() {
            latest.store(UNKNOWN, Ordering::Relaxed);
        }
        Thermometer { latest, stop, worker: worker.ok() }
    }

    /// The latest temperature in °C.
    #[must_use]
    pub fn celsius(&self) -> Option<f64> {
        self.reading().celsius()
    }

    /// A handle for a measuring thread; it stays valid, though unmoved, after the thermometer stopped.
    #[must_use]
    pub fn reading(&self) -> Reading {
        Reading(self.latest.clone())
    }

    /// What it measures.
    #[must_use]
    pub fn place(&self) -> &'static str {
        "card (NVMe composite)"
    }
}

impl Drop for Thermometer {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        if let Some(worker) = self.worker.take() {
            // A worker that panicked has nothing more to tell.
            let _ = worker.join();
        }
    }
}

/// Waits for the time or the order to stop; true for the latter.
fn wait(stop: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let guard = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = stop.1.wait_timeout_while(guard, time, |stopped| !*stopped);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn thousandths(celsius: Option<f64>) -> i64 {
    celsius.map_or(UNKNOWN, |celsius| (celsius * 1000.0).round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn recorded_card(temperature: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let hwmon = dir.path().join("block/nvme0n1/device/hwmon1");
        std::fs::create_dir_all(&hwmon).unwrap();
        std::fs::write(hwmon.join("name"), "nvme\n").unwrap();
        std::fs::write(hwmon.join("temp1_input"), temperature).unwrap();
        std::fs::write(dir.path().join("block/nvme0n1/device/model"), "LX1TB71\n").unwrap();
        dir
    }

    #[test]
    fn a_warming_card_is_followed_without_asking_it_in_the_measuring_thread() {
        let dir = recorded_card("41850\n");
        let thermometer = Thermometer::find(&System::recorded(dir.path()), "/dev/nvme0n1").unwrap();
        let reading = thermometer.reading();
        assert_eq!(reading.celsius(), Some(41.85));
        std::fs::write(dir.path().join("block/nvme0n1/device/hwmon1/temp1_input"), "80850\n").unwrap();
        let start = Instant::now();
        while reading.celsius() != Some(80.85) && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(reading.celsius(), Some(80.85));
    }

    #[test]
    fn a_thermometer_stops_at_once_when_dropped() {
        let dir = recorded_card("41850\n");
        let thermometer = Thermometer::find(&System::recorded(dir.path()), "nvme0n1").unwrap();
        let start = Instant::now();
        drop(thermometer);
        assert!(start.elapsed() < Duration::from_millis(500));
    }

    #[test]
    fn a_sensor_that_reads_nonsense_is_no_thermometer() {
        for nonsense in ["", "warm", "99999999", "-273150"] {
            let dir = recorded_card(nonsense);
            assert!(Thermometer::find(&System::recorded(dir.path()), "nvme0n1").is_none(), "{nonsense}");
        }
    }
}
