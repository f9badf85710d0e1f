//! Temperatures around a card during a test: the card, the reader, the host controller, the SoC, and thermometers of
//! the user. Each reading names its place.
//!
//! Separate threads read once a second, so that queries do not disturb measurements. `built_in` maps sensors to places.
//! Places are separate because neither a hot USB controller (docs/reference/reports.md#raspberry-pi-comparison) nor a
//! thermometer read by hand (docs/reference/reports.md#microsd-express-benchmarks) is the card.

mod built_in;
mod external;
mod thermometer;

pub use external::{ExtraError, ExtraSource, ExtraThermometer, SensorError};

use crate::block::BlockDevice;
use crate::hwmon::PLAUSIBLE_C;
use crate::system::SystemRoots;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The kernel queries NVMe cards no more often either (`drivers/nvme/host/hwmon.c`).
const INTERVAL: Duration = Duration::from_secs(1);

/// Older readings say nothing about the present, except typed ones, which are rare.
const STALE: Duration = Duration::from_secs(15);

#[derive(Debug, Clone, PartialEq)]
pub struct TemperatureReading {
    /// `card`, `card sensor 1`, `reader`, `host controller`, `soc`, or a name given by the user.
    pub place: String,
    pub celsius: f64,
    /// Sensor, such as `NVMe composite (hwmon)`, `thermal zone cpu-thermal`, `command vcgencmd …`.
    pub source: String,
}

/// Latest reading of one thermometer. Typed ones do not become stale.
#[derive(Debug)]
struct ReadingSlot {
    place: String,
    source: String,
    latest: Option<(f64, Instant)>,
    is_typed: bool,
}

#[derive(Debug, Default)]
struct ReadingBoard {
    slots: Vec<ReadingSlot>,
    failures: Vec<String>,
}

#[derive(Debug, Clone, Default)]
pub struct ReadingsHandle(Arc<Mutex<ReadingBoard>>);

impl ReadingsHandle {
    fn lock_board(&self) -> MutexGuard<'_, ReadingBoard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Readings of all thermometers that are not stale, in the order of detection.
    pub fn latest(&self) -> Vec<TemperatureReading> {
        let reading = |slot: &ReadingSlot| {
            let (celsius, _) = slot.latest.filter(|(_, at)| slot.is_typed || at.elapsed() < STALE)?;
            Some(TemperatureReading { place: slot.place.clone(), celsius, source: slot.source.clone() })
        };
        self.lock_board().slots.iter().filter_map(reading).collect()
    }

    pub fn celsius_at(&self, place: &str) -> Option<f64> {
        self.latest().into_iter().find(|reading| reading.place == place).map(|reading| reading.celsius)
    }

    /// Stores a typed temperature. Returns false if the place is not entered by hand, or the value is implausible.
    pub fn set_typed(&self, place: &str, celsius: f64) -> bool {
        let mut board = self.lock_board();
        let slot = board.slots.iter_mut().find(|slot| slot.is_typed && slot.place == place);
        let slot = slot.filter(|_| PLAUSIBLE_C.contains(&celsius));
        slot.map(|slot| slot.latest = Some((celsius, Instant::now()))).is_some()
    }

    pub fn failures(&self) -> Vec<String> {
        self.lock_board().failures.clone()
    }

    fn add_slot(&self, place: String, source: String, lasting: bool, first: Option<f64>) -> usize {
        let mut board = self.lock_board();
        let latest = first.map(|celsius| (celsius, Instant::now()));
        board.slots.push(ReadingSlot { place, source, latest, is_typed: lasting });
        board.slots.len() - 1
    }

    /// Stores a reading. A failing thermometer keeps its last value until that is stale.
    fn store(&self, slot: usize, reading: Result<f64, String>) {
        let mut board = self.lock_board();
        match reading {
            Ok(celsius) => board.slots[slot].latest = Some((celsius, Instant::now())),
            Err(failure) if !board.failures.contains(&failure) => board.failures.push(failure),
            Err(_) => {}
        }
    }
}

type Started = Result<(), SensorError>;
type StopSignal = Arc<(Mutex<bool>, Condvar)>;

/// Running sensor threads, stopped on drop.
#[derive(Debug, Default)]
pub struct SensorThreads {
    readings: ReadingsHandle,
    typed_places: Vec<String>,
    stop: StopSignal,
    workers: Vec<JoinHandle<()>>,
}

impl SensorThreads {
    /// Adds the sensors of this computer, those on the way to `device` (name or path of a disk), and those of the user.
    /// Missing sensors are left out; a thermometer of the user that cannot work is an error.
    pub fn add_sensors(
        mut self,
        system: &SystemRoots,
        device: Option<&str>,
        extra: &[ExtraThermometer],
    ) -> Result<SensorThreads, SensorError> {
        let mut found = built_in::find_sensors(system, device);
        found.retain(|sensor| !self.has_sensor(&sensor.place, &sensor.source));
        self.start_built_in(found)?;
        for extra in extra {
            self.start_extra(extra)?;
        }
        Ok(self)
    }

    fn has_sensor(&self, place: &str, source: &str) -> bool {
        self.readings.lock_board().slots.iter().any(|slot| slot.place == place && slot.source == source)
    }

    /// Starts the card's own thermometer alone, at the place `card`; `None` if it has none.
    pub fn card_only(system: &SystemRoots, device: &str) -> Option<SensorThreads> {
        let disk = BlockDevice::find(system, device)?.disk();
        let mut sensors = SensorThreads::default();
        sensors.start_built_in(vec![built_in::composite_sensor(system, &disk)?]).ok()?;
        sensors.readings.celsius_at("card").is_some().then_some(sensors)
    }

    fn start_built_in(&mut self, found: Vec<built_in::BuiltInSensor>) -> Started {
        let mut slots = Vec::new();
        for sensor in found {
            let Some(first) = sensor.read_celsius() else { continue };
            let (place, source) = (sensor.place.clone(), sensor.source.clone());
            slots.push((self.readings.add_slot(place, source, false, Some(first)), sensor));
        }
        if slots.is_empty() {
            return Ok(());
        }
        self.start_worker("sensors", move |readings| {
            for (slot, sensor) in &slots {
                if let Some(celsius) = sensor.read_celsius() {
                    readings.store(*slot, Ok(celsius));
                }
            }
        })
    }

    fn start_extra(&mut self, extra: &ExtraThermometer) -> Started {
        let place = extra.place.clone();
        if self.readings.lock_board().slots.iter().any(|slot| slot.place == place) {
            return Err(SensorError::PlaceTwice { place });
        }
        let lasting = matches!(extra.source, ExtraSource::Typed);
        let slot = self.readings.add_slot(place.clone(), extra.source.to_string(), lasting, None);
        match &extra.source {
            ExtraSource::Typed => self.typed_places.push(place),
            ExtraSource::Command(line) => {
                let (line, stop) = (line.clone(), Arc::clone(&self.stop));
                self.start_worker("thermometer command", move |readings| {
                    readings.store(slot, thermometer::run_command(&line, &|| is_stopped(&stop)));
                })?;
            }
            ExtraSource::Csv { path, column } => {
                let mut file = thermometer::GrowingCsv::open(path, column.as_deref())?;
                let task = move |readings: &ReadingsHandle| readings.store(slot, file.read_celsius());
                self.start_worker("thermometer file", task)?;
            }
        }
        Ok(())
    }

    /// Runs a task at once and then once a second, on its own thread.
    fn start_worker(&mut self, name: &str, mut f: impl FnMut(&ReadingsHandle) + Send + 'static) -> Started {
        let (readings, stop) = (self.readings.clone(), Arc::clone(&self.stop));
        let run = move || {
            f(&readings);
            while !wait_stopped(&stop, INTERVAL) {
                f(&readings);
            }
        };
        let worker = std::thread::Builder::new().name(name.into()).spawn(run);
        self.workers.push(worker.map_err(|error| SensorError::NoThread(error.into()))?);
        Ok(())
    }

    /// Handle for measuring threads. It stays valid after the sensors stop, but its readings become stale.
    pub fn readings(&self) -> ReadingsHandle {
        self.readings.clone()
    }

    pub fn typed_places(&self) -> &[String] {
        &self.typed_places
    }
}

impl Drop for SensorThreads {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has no readings left to report.
            let _ = worker.join();
        }
    }
}

/// Waits for the interval or the stop signal; true for the latter.
fn wait_stopped(stop: &StopSignal, time: Duration) -> bool {
    let (flag, changed) = &**stop;
    let flag = flag.lock().unwrap_or_else(PoisonError::into_inner);
    *changed.wait_timeout_while(flag, time, |stopped| !*stopped).unwrap_or_else(PoisonError::into_inner).0
}

fn is_stopped(stop: &StopSignal) -> bool {
    *stop.0.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
