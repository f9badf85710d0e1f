//! Thermometers beside the card, and what hears of a run: samples go to the writer, what goes wrong with a thermometer
//! is said once.

use super::SustainRequest;
use super::writer::SampleWriter;
use crate::probe::sustain::SampleRecorder;
use cardscope_device::sensors::{ExtraThermometer, ReadingsHandle, SensorThreads};
use cardscope_device::system::SystemRoots;
use cardscope_engine::card::ProbeStop;
use cardscope_engine::event::Listener;
use cardscope_engine::journal::JournalError;
use cardscope_model::progress::ProgressEvent;
use cardscope_model::sustain::{PlacedTemperature, SustainSample};
use cardscope_session::error::{Failure, Result};
use cardscope_session::opened::OpenTarget;
use std::cell::RefCell;

/// Takes temperatures that somebody types.
#[derive(Debug, Clone)]
pub struct ManualThermometer(ReadingsHandle);

impl ManualThermometer {
    /// Takes one; false where no thermometer of that place is read by hand, or it is no temperature.
    pub fn take(&self, place: &str, celsius: f64) -> bool {
        self.0.typed(place, celsius)
    }
}

/// Whoever can ask somebody for temperatures while a run goes on.
pub trait ManualReading {
    /// From now on, what is typed for these places goes to `into`. Returns at once.
    fn begin(&mut self, places: &[String], into: ManualThermometer);
}

/// Nobody who could be asked.
pub struct NoManualReading;

impl ManualReading for NoManualReading {
    fn begin(&mut self, _places: &[String], _into: ManualThermometer) {}
}

/// Thermometers at work.
pub(super) struct RunThermometers {
    sensors: Option<SensorThreads>,
    said: usize,
}

impl RunThermometers {
    /// Sets them up: that of the open card, those of this machine and of the way to the card, and those that the user
    /// brings.
    ///
    /// # Errors
    /// If one that the user brings cannot work at all.
    pub(super) fn open(request: &SustainRequest, opened: &mut OpenTarget) -> Result<RunThermometers> {
        let named = named(request)?;
        if opened.is_simulated() && named.is_empty() {
            return Ok(RunThermometers { sensors: None, said: 0 });
        }
        let of_card = opened.thermometer.take().unwrap_or_default();
        let sensors = of_card.with(&SystemRoots::host(), opened.disk().as_deref(), &named);
        Ok(RunThermometers { sensors: Some(sensors.map_err(Failure::refused)?), said: 0 })
    }

    /// Has somebody type what is to be typed.
    pub(super) fn ask(&mut self, typist: &mut dyn ManualReading) {
        if let Some(sensors) = self.sensors.as_ref().filter(|s| !s.asked().is_empty()) {
            typist.begin(sensors.asked(), ManualThermometer(sensors.readings()));
        }
    }

    fn read(&self) -> Vec<PlacedTemperature> {
        let all = self.sensors.as_ref().map(|s| s.readings().read()).unwrap_or_default();
        all.into_iter().map(|r| PlacedTemperature { place: r.place, celsius: r.celsius }).collect()
    }

    /// What went wrong with them so far.
    pub(super) fn failures(&self) -> Vec<String> {
        self.sensors.as_ref().map(|s| s.readings().failures()).unwrap_or_default()
    }

    /// What went wrong since this was last asked.
    fn new_failures(&mut self) -> Vec<String> {
        let mut all = self.failures();
        let new = all.split_off(self.said.min(all.len()));
        self.said += new.len();
        new
    }
}

/// The thermometers that the user brings; their names are checked before anything is opened.
pub(super) fn named(request: &SustainRequest) -> Result<Vec<ExtraThermometer>> {
    let all: Result<_, _> = request.thermometers.iter().map(|text| text.parse()).collect();
    all.map_err(|e: <ExtraThermometer as std::str::FromStr>::Err| {
        Failure::refused_for(format!("--thermometer {e}"), e)
    })
}

/// A listener that both the probe's progress and its log speak to.
pub(super) struct SharedListener<'a>(RefCell<&'a mut dyn Listener>);

impl<'a> SharedListener<'a> {
    pub(super) fn new(listener: &'a mut dyn Listener) -> Self {
        SharedListener(RefCell::new(listener))
    }
}

impl Listener for &SharedListener<'_> {
    fn event(&mut self, event: &ProgressEvent) {
        self.0.borrow_mut().event(event);
    }
}

/// Where samples go and temperatures come from.
pub(super) struct RunLog<'s, 'a> {
    pub(super) writer: &'s mut SampleWriter,
    pub(super) thermometers: &'s mut RunThermometers,
    pub(super) listener: &'s SharedListener<'a>,
}

impl SampleRecorder for RunLog<'_, '_> {
    fn sample(&mut self, sample: &SustainSample) -> Result<(), ProbeStop> {
        for failure in self.thermometers.new_failures() {
            self.listener.note(&format!("{failure}; the run continues without it"));
        }
        self.writer.record(sample).map_err(|reason| ProbeStop::Journal(JournalError(reason.into())))
    }

    fn outside(&mut self) -> Vec<PlacedTemperature> {
        self.thermometers.read()
    }
}
