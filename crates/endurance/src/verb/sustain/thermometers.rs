//! Thermometers beside the card, and what hears of a run: samples go to the writer, what goes wrong with a thermometer
//! is said once.

use super::Request;
use super::writer::Writer;
use crate::probe::sustain::SampleRecorder;
use cardscope_device::sensors::{Extra, Readings, Sensors};
use cardscope_device::system::System;
use cardscope_engine::card::Stop;
use cardscope_engine::event::Listener;
use cardscope_engine::journal::JournalError;
use cardscope_model::progress::ProgressEvent;
use cardscope_model::sustain::{Reading, Sample};
use cardscope_session::error::{Failure, Result};
use cardscope_session::opened::Opened;
use std::cell::RefCell;

/// Takes temperatures that somebody types.
#[derive(Debug, Clone)]
pub struct Typed(Readings);

impl Typed {
    /// Takes one; false where no thermometer of that place is read by hand, or it is no temperature.
    pub fn take(&self, place: &str, celsius: f64) -> bool {
        self.0.typed(place, celsius)
    }
}

/// Whoever can ask somebody for temperatures while a run goes on.
pub trait Typist {
    /// From now on, what is typed for these places goes to `into`. Returns at once.
    fn begin(&mut self, places: &[String], into: Typed);
}

/// Nobody who could be asked.
pub struct Nobody;

impl Typist for Nobody {
    fn begin(&mut self, _places: &[String], _into: Typed) {}
}

/// Thermometers at work.
pub(super) struct Thermometers {
    sensors: Option<Sensors>,
    said: usize,
}

impl Thermometers {
    /// Sets them up: that of the open card, those of this machine and of the way to the card, and those that the user
    /// brings.
    ///
    /// # Errors
    /// If one that the user brings cannot work at all.
    pub(super) fn open(request: &Request, opened: &mut Opened) -> Result<Thermometers> {
        let named = named(request)?;
        if opened.is_simulated() && named.is_empty() {
            return Ok(Thermometers { sensors: None, said: 0 });
        }
        let of_card = opened.thermometer.take().unwrap_or_default();
        let sensors = of_card.with(&System::host(), opened.disk().as_deref(), &named);
        Ok(Thermometers { sensors: Some(sensors.map_err(Failure::refused)?), said: 0 })
    }

    /// Has somebody type what is to be typed.
    pub(super) fn ask(&mut self, typist: &mut dyn Typist) {
        if let Some(sensors) = self.sensors.as_ref().filter(|s| !s.asked().is_empty()) {
            typist.begin(sensors.asked(), Typed(sensors.readings()));
        }
    }

    fn read(&self) -> Vec<Reading> {
        let all = self.sensors.as_ref().map(|s| s.readings().read()).unwrap_or_default();
        all.into_iter().map(|r| Reading { place: r.place, celsius: r.celsius }).collect()
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
pub(super) fn named(request: &Request) -> Result<Vec<Extra>> {
    let all: Result<_, _> = request.thermometers.iter().map(|text| text.parse()).collect();
    all.map_err(|e: <Extra as std::str::FromStr>::Err| Failure::refused_for(format!("--thermometer {e}"), e))
}

/// A listener that both the probe's progress and its log speak to.
pub(super) struct Shared<'a>(RefCell<&'a mut dyn Listener>);

impl<'a> Shared<'a> {
    pub(super) fn new(listener: &'a mut dyn Listener) -> Self {
        Shared(RefCell::new(listener))
    }
}

impl Listener for &Shared<'_> {
    fn event(&mut self, event: &ProgressEvent) {
        self.0.borrow_mut().event(event);
    }
}

/// Where samples go and temperatures come from.
pub(super) struct Tracks<'s, 'a> {
    pub(super) writer: &'s mut Writer,
    pub(super) thermometers: &'s mut Thermometers,
    pub(super) listener: &'s Shared<'a>,
}

impl SampleRecorder for Tracks<'_, '_> {
    fn sample(&mut self, sample: &Sample) -> Result<(), Stop> {
        for failure in self.thermometers.new_failures() {
            self.listener.note(&format!("{failure}; the run continues without it"));
        }
        self.writer.record(sample).map_err(|reason| Stop::Journal(JournalError(reason.into())))
    }

    fn outside(&mut self) -> Vec<Reading> {
        self.thermometers.read()
    }
}
