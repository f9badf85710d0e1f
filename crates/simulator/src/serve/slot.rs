//! A card being served, whoever asks: FUSE and NBD clients share it, its clock and its counters.

use super::ServeError;
use super::awake::Awake;
use super::delay::Delay;
use super::live::{Came, Live};
use super::options::Options;
use super::report::{Lag, Meter, Report};
use crate::archetype::ArchetypeError;
use crate::target_spec::TargetSpec;
use cardscope_model::outside;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// A card being served.
pub(super) struct Slot {
    /// Its name among those that are served: a directory, and an export.
    pub(super) name: String,
    /// As the user wrote it.
    pub(super) text: String,
    pub(super) live: Live,
    pub(super) meter: Meter,
    /// What a probe should find, as the file `truth.json`.
    pub(super) truth: String,
    pub(super) options: Options,
    awake: Arc<Awake>,
}

impl Slot {
    pub(super) fn new(
        spec: &TargetSpec,
        name: String,
        options: &Options,
        awake: &Arc<Awake>,
    ) -> Result<Slot, ServeError> {
        Ok(Slot {
            name,
            text: spec.text.clone(),
            live: Live::new(spec)?,
            meter: Meter::default(),
            truth: truth(spec)?,
            options: options.clone(),
            awake: Arc::clone(awake),
        })
    }

    /// A request came just now.
    pub(super) fn request(self: &Arc<Self>) -> Request {
        self.awake.poke();
        let came = Came { at: Instant::now(), in_flight: self.meter.begin() };
        Request { came, card: Arc::clone(self) }
    }

    /// What is counted about it so far.
    pub(super) fn report(&self) -> Report {
        let (in_flight, max_in_flight) = self.meter.in_flight();
        let card = self.live.counters();
        Report {
            name: self.name.clone(),
            target: self.text.clone(),
            seconds: self.live.seconds(),
            commands: card.tally.commands(),
            card,
            in_flight,
            max_in_flight,
            temperature_c: self.live.celsius().map(|c| (c * 10.0).round() / 10.0),
            lag: self.options.timing.then(|| Lag::of(self.meter.lags())),
        }
    }

    /// True where a range lies within the card.
    pub(super) fn holds(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.live.bytes)
    }
}

/// A request in flight until it is answered, or dropped.
pub(super) struct Request {
    pub(super) came: Came,
    card: Arc<Slot>,
}

impl Request {
    /// Has it answered at its time: by `delay`, or at once where there is none.
    pub(super) fn answer_at(
        self,
        delay: Option<&Delay>,
        due: Instant,
        answer: impl FnOnce() + Send + 'static,
    ) {
        let Some(delay) = delay else {
            drop(self);
            return answer();
        };
        let card = Arc::clone(&self.card);
        let answered = move |waited: bool| {
            if waited {
                card.meter.record(Instant::now().saturating_duration_since(due));
            }
            drop(self);
            answer();
        };
        delay.answer(due, Box::new(answered));
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.card.meter.end();
        if std::thread::panicking() {
            self.card.meter.break_down();
        }
    }
}

/// The archetype's table of truth, between what the card is called and what it says of itself.
fn truth(spec: &TargetSpec) -> Result<String, ArchetypeError> {
    let card = &spec.archetype;
    let mut document = json!({
        "name": card.name,
        "target": spec.text,
        "seed": spec.seed,
        "announced_bytes": card.announced_bytes,
    });
    if let (Some(all), Value::Object(truth)) = (document.as_object_mut(), json!(card.truth)) {
        all.extend(truth);
        all.insert("identity".to_owned(), json!(crate::identity(card)?));
    }
    Ok(outside::json(&format!("{document:#}\n")).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Arc<Slot> {
        let spec = crate::target_spec::parse("sim:constant").unwrap();
        let options = Options::at_once();
        Arc::new(Slot::new(&spec, "constant".to_owned(), &options, &Arc::new(Awake::new(&options))).unwrap())
    }

    #[test]
    fn a_thread_that_panics_with_a_request_leaves_word() {
        let card = slot();
        let theirs = Arc::clone(&card);
        let ended = std::thread::spawn(move || {
            let _request = theirs.request();
            panic!("as a broken model would");
        });
        assert!(ended.join().is_err());
        assert!(card.meter.broken());
        assert_eq!(card.meter.in_flight(), (0, 1));
    }
}
