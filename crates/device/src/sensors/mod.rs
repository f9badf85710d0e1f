//! All temperatures around a card while it is measured: of the card itself, the reader, the host controller, the
//! SoC, and of thermometers that the user brings. Each reading says which place it was taken at.
//!
//! Threads of their own read once a second, so that asking costs a measurement nothing. `built_in` knows which sensor
//! stands for which place. Places are separate because a hot USB controller
//! (docs/reference/reports.md#raspberry-pi-comparison) and a thermometer noted by hand
//! (docs/reference/reports.md#microsd-express-benchmarks) are not the card.

mod built_in;
mod extra;
mod thermometer;

pub use extra::{ExtraError, ExtraSource, ExtraThermometer, SensorError};

use crate::block::BlockDevice;
use crate::hwmon::PLAUSIBLE_C;
use crate::system::SystemRoots;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Sensors are read this often; the kernel asks an NVMe card no more often itself (`drivers/nvme/host/hwmon.c`).
const INTERVAL: Duration = Duration::from_secs(1);

/// A reading older than this says nothing of now, unless it was typed: nobody types once a second.
const STALE: Duration = Duration::from_secs(15);

/// One temperature, and where it was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct TemperatureReading {
    /// What is measured: `card`, `card sensor 1`, `reader`, `host controller`, `soc`, or as the user named it.
    pub place: String,
    /// In °C.
    pub celsius: f64,
    /// Where the figure comes from: `NVMe composite (hwmon)`, `thermal zone cpu-thermal`, `command vcgencmd …`.
    pub source: String,
}

/// What one thermometer last said.
#[derive(Debug)]
struct ReadingSlot {
    place: String,
    source: String,
    latest: Option<(f64, Instant)>,
    lasting: bool,
}

/// What all threads write and everybody reads.
#[derive(Debug, Default)]
struct ReadingBoard {
    slots: Vec<ReadingSlot>,
    failures: Vec<String>,
}

/// A handle that can be taken along into a measuring thread.
#[derive(Debug, Clone, Default)]
pub struct ReadingsHandle(Arc<Mutex<ReadingBoard>>);

impl ReadingsHandle {
    fn board(&self) -> MutexGuard<'_, ReadingBoard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest of every thermometer that has answered lately, in the order they were found.
    pub fn read(&self) -> Vec<TemperatureReading> {
        let board = self.board();
        let fresh = |slot: &ReadingSlot, at: Instant| slot.lasting || at.elapsed() < STALE;
        let reading = |slot: &ReadingSlot| {
            let (celsius, at) = slot.latest?;
            let reading =
                || TemperatureReading { place: slot.place.clone(), celsius, source: slot.source.clone() };
            fresh(slot, at).then(reading)
        };
        board.slots.iter().filter_map(reading).collect()
    }

    /// What the thermometer of a place said lately.
    pub fn at(&self, place: &str) -> Option<f64> {
        self.read().into_iter().find(|reading| reading.place == place).map(|reading| reading.celsius)
    }

    /// Takes a value that was typed; false where no thermometer of that place is asked for by hand, or the value is
    /// no temperature.
    pub fn typed(&self, place: &str, celsius: f64) -> bool {
        let mut board = self.board();
        let asked = board.slots.iter_mut().find(|slot| slot.lasting && slot.place == place);
        match asked {
            Some(slot) if PLAUSIBLE_C.contains(&celsius) => {
                slot.latest = Some((celsius, Instant::now()));
                true
            }
            _ => false,
        }
    }

    /// What went wrong with a thermometer, each once.
    pub fn failures(&self) -> Vec<String> {
        self.board().failures.clone()
    }

    fn add(&self, place: String, source: String, lasting: bool, first: Option<f64>) -> usize {
        let mut board = self.board();
        let latest = first.map(|celsius| (celsius, Instant::now()));
        board.slots.push(ReadingSlot { place, source, latest, lasting });
        board.slots.len() - 1
    }

    /// Takes what a thermometer said. One that fails keeps its last value until that is stale.
    fn put(&self, slot: usize, said: Result<f64, String>) {
        let mut board = self.board();
        match said {
            Ok(celsius) => {
                if let Some(slot) = board.slots.get_mut(slot) {
                    slot.latest = Some((celsius, Instant::now()));
                }
            }
            Err(failure) => {
                if !board.failures.contains(&failure) {
                    board.failures.push(failure);
                }
            }
        }
    }
}

/// Ends the threads.
type StopSignal = Arc<(Mutex<bool>, Condvar)>;

/// Thermometers at work; they stop when dropped.
#[derive(Debug, Default)]
pub struct SensorThreads {
    readings: ReadingsHandle,
    asked: Vec<String>,
    stop: StopSignal,
    workers: Vec<JoinHandle<()>>,
}

impl SensorThreads {
    /// Adds the sensors of this machine and those on the way to `device` (a name or path of a disk), where one is given,
    /// unless they are at work already, and those that the user brings. Sensors that are not there are left out.
    ///
    /// # Errors
    /// If a thermometer that the user brings cannot work at all.
    pub fn with(
        mut self,
        system: &SystemRoots,
        device: Option<&str>,
        extra: &[ExtraThermometer],
    ) -> Result<SensorThreads, SensorError> {
        let mut found = built_in::find(system, device);
        found.retain(|sensor| !self.has(&sensor.place, &sensor.source));
        self.take_built_in(found)?;
        for extra in extra {
            self.take_extra(extra)?;
        }
        Ok(self)
    }

    fn has(&self, place: &str, source: &str) -> bool {
        self.readings.board().slots.iter().any(|slot| slot.place == place && slot.source == source)
    }

    /// The card's own thermometer alone, by the place `card`; `None` for one that tells no temperature.
    pub fn of_card(system: &SystemRoots, device: &str) -> Option<SensorThreads> {
        let disk = BlockDevice::find(system, device)?.disk();
        let mut sensors = SensorThreads::default();
        sensors.take_built_in(vec![built_in::composite(system, &disk)?]).ok()?;
        sensors.readings.at("card").is_some().then_some(sensors)
    }

    fn take_built_in(&mut self, found: Vec<built_in::BuiltInSensor>) -> Result<(), SensorError> {
        let mut slots = Vec::new();
        for sensor in found {
            if let Some(first) = sensor.read() {
                let (place, source) = (sensor.place.clone(), sensor.source.clone());
                slots.push((self.readings.add(place, source, false, Some(first)), sensor));
            }
        }
        if slots.is_empty() {
            return Ok(());
        }
        self.work("sensors", move |readings| {
            for (slot, sensor) in &slots {
                if let Some(celsius) = sensor.read() {
                    readings.put(*slot, Ok(celsius));
                }
            }
        })
    }

    fn take_extra(&mut self, extra: &ExtraThermometer) -> Result<(), SensorError> {
        let place = extra.place.clone();
        if self.readings.board().slots.iter().any(|slot| slot.place == place) {
            return Err(SensorError::PlaceTwice { place });
        }
        let lasting = matches!(extra.source, ExtraSource::Typed);
        let slot = self.readings.add(place.clone(), extra.source.to_string(), lasting, None);
        match &extra.source {
            ExtraSource::Typed => self.asked.push(place),
            ExtraSource::Command(line) => {
                let line = line.clone();
                let stop = Arc::clone(&self.stop);
                self.work("thermometer command", move |readings| {
                    readings.put(slot, thermometer::of_command(&line, &|| stopped(&stop)));
                })?;
            }
            ExtraSource::Csv { path, column } => {
                let mut file = thermometer::GrowingCsv::open(path, column.as_deref())?;
                self.work("thermometer file", move |readings| readings.put(slot, file.celsius()))?;
            }
        }
        Ok(())
    }

    /// Does something at once and then once a second, on a thread of its own.
    fn work(
        &mut self,
        name: &str,
        mut task: impl FnMut(&ReadingsHandle) + Send + 'static,
    ) -> Result<(), SensorError> {
        let (readings, stop) = (self.readings.clone(), Arc::clone(&self.stop));
        let run = move || {
            task(&readings);
            while !wait(&stop, INTERVAL) {
                task(&readings);
            }
        };
        let worker = std::thread::Builder::new().name(name.into()).spawn(run);
        self.workers.push(worker.map_err(|error| SensorError::NoThread(error.into()))?);
        Ok(())
    }

    /// A handle for a measuring thread; it stays valid, though its readings age, after the sensors stopped.
    pub fn readings(&self) -> ReadingsHandle {
        self.readings.clone()
    }

    /// Places whose temperature is to be typed.
    pub fn asked(&self) -> &[String] {
        &self.asked
    }
}

impl Drop for SensorThreads {
    fn drop(&mut self) {
        *self.stop.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.1.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing more to tell.
            let _ = worker.join();
        }
    }
}

/// Waits for the time or the order to stop; true for the latter.
fn wait(stop: &StopSignal, time: Duration) -> bool {
    let guard = stop.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = stop.1.wait_timeout_while(guard, time, |stopped| !*stopped);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn stopped(stop: &StopSignal) -> bool {
    *stop.0.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
