//! Thermometers of a run, and the sample recorder that reads them. A failure of a thermometer is reported once.

use super::SustainRequest;
use super::writer::SampleWriter;
use crate::probe::sustain::SampleRecorder;
use cardscope_device::sensors::{ExtraThermometer, ReadingsHandle, SensorThreads};
use cardscope_device::system::SystemRoots;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::ProbeStop;
use cardscope_engine::journal::JournalError;
use cardscope_model::progress::ProgressEvent;
use cardscope_model::sustain::{PlacedTemperature, SustainSample};
use cardscope_session::error::{Failure, Result};
use cardscope_session::open_target::OpenTarget;
use std::cell::RefCell;

/// Accepts temperatures that the user types.
#[derive(Debug, Clone)]
pub struct ManualThermometer(ReadingsHandle);

impl ManualThermometer {
    /// Stores a temperature. Returns false if the place has no manual thermometer or the value is not a temperature.
    pub fn submit(&self, place: &str, celsius: f64) -> bool {
        self.0.set_typed(place, celsius)
    }
}

/// Asks the user for temperatures during a run.
pub trait ManualReading {
    /// Starts to send what the user types for these places to `into`. Returns at once.
    fn begin(&mut self, places: &[String], into: ManualThermometer);
}

/// Never asks.
pub struct NoManualReading;

impl ManualReading for NoManualReading {
    fn begin(&mut self, _places: &[String], _into: ManualThermometer) {}
}

#[derive(Default)]
pub(super) struct RunThermometers {
    sensors: Option<SensorThreads>,
    reported_failures: usize,
}

impl RunThermometers {
    /// Opens the thermometers of the card, of this computer, and those that the user adds.
    /// # Errors
    /// Refuses if one that the user adds cannot work.
    pub(super) fn open_all(request: &SustainRequest, opened: &mut OpenTarget) -> Result<RunThermometers> {
        let named = parse_thermometers(request)?;
        if opened.is_simulated() && named.is_empty() {
            return Ok(RunThermometers::default());
        }
        let of_card = opened.thermometer.take().unwrap_or_default();
        let sensors = of_card.add_sensors(&SystemRoots::host(), opened.disk().as_deref(), &named);
        Ok(RunThermometers { sensors: Some(sensors.map_err(Failure::refused)?), reported_failures: 0 })
    }

    /// Starts manual readings, if any are requested.
    pub(super) fn begin_manual(&mut self, typist: &mut dyn ManualReading) {
        if let Some(sensors) = self.sensors.as_ref().filter(|s| !s.typed_places().is_empty()) {
            typist.begin(sensors.typed_places(), ManualThermometer(sensors.readings()));
        }
    }

    fn current_readings(&self) -> Vec<PlacedTemperature> {
        let all = self.sensors.as_ref().map(|s| s.readings().latest()).unwrap_or_default();
        all.into_iter().map(|r| PlacedTemperature { place: r.place, celsius: r.celsius }).collect()
    }

    /// All failures of thermometers so far.
    pub(super) fn failures(&self) -> Vec<String> {
        self.sensors.as_ref().map(|s| s.readings().failures()).unwrap_or_default()
    }

    /// Failures since the last call.
    fn new_failures(&mut self) -> Vec<String> {
        let mut all = self.failures();
        let new = all.split_off(self.reported_failures.min(all.len()));
        self.reported_failures += new.len();
        new
    }
}

/// Parses the thermometers that the user adds, before anything is opened.
pub(super) fn parse_thermometers(request: &SustainRequest) -> Result<Vec<ExtraThermometer>> {
    let parse = |text: &String| text.parse::<ExtraThermometer>();
    let all: Result<_, _> = request.thermometers.iter().map(parse).collect();
    all.map_err(|e| Failure::refused_for(format!("--thermometer {e}"), e))
}

/// Listener that the probe and its recorder use at the same time.
pub(super) struct SharedListener<'a>(pub(super) RefCell<&'a mut dyn Listener>);

impl Listener for &SharedListener<'_> {
    fn event(&mut self, event: &ProgressEvent) {
        self.0.borrow_mut().event(event);
    }
}

/// Recorder of a run: stores samples and reads the thermometers.
pub(super) struct RunLog<'s, 'a> {
    pub(super) writer: &'s mut SampleWriter,
    pub(super) thermometers: &'s mut RunThermometers,
    pub(super) listener: &'s SharedListener<'a>,
}

impl SampleRecorder for RunLog<'_, '_> {
    fn sample(&mut self, sample: &SustainSample) -> Result<(), ProbeStop> {
        for failure in self.thermometers.new_failures() {
            self.listener.report_note(&format!("{failure}; the run continues without it"));
        }
        self.writer.record(sample).map_err(|reason| ProbeStop::Journal(JournalError(reason.into())))
    }

    fn external_temperatures(&mut self) -> Vec<PlacedTemperature> {
        self.thermometers.current_readings()
    }
}
