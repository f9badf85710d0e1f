//! Card being served: FUSE and NBD clients share it, with its clock and its counters.

use super::cpu_latency::CpuLatencyGuard;
use super::delay::AnswerDelay;
use super::report::{AnswerLag, LagMeter, ServeReport};
use super::{ServeError, ServingOptions};
use crate::archetype::{ArchetypeError, UnwrittenRead};
use crate::card::CardCommand;
use crate::content::{CardIoError, CardResult, ReadContent, WrittenData};
use crate::simulated_device::SimulatedDevice;
use crate::state_file::StateError;
use crate::target_spec::TargetSpec;
use cardscope_engine::content::IoContent;
use cardscope_model::untrusted_text;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct ServedCard {
    /// Name among the served cards: that of its directory and of its export.
    pub(super) name: String,
    /// Name as the user wrote it.
    pub(super) spec_text: String,
    pub(super) live: LiveCard,
    pub(super) meter: LagMeter,
    /// Content of `truth.json`.
    pub(super) truth: String,
    pub(super) options: ServingOptions,
    awake: Arc<CpuLatencyGuard>,
}

impl ServedCard {
    pub(super) fn new(
        spec: &TargetSpec,
        name: String,
        options: &ServingOptions,
        awake: &Arc<CpuLatencyGuard>,
    ) -> Result<ServedCard, ServeError> {
        Ok(ServedCard {
            name,
            spec_text: spec.text.clone(),
            live: LiveCard::new(spec)?,
            meter: LagMeter::default(),
            truth: truth_json(spec)?,
            options: options.clone(),
            awake: Arc::clone(awake),
        })
    }

    pub(super) fn begin_request(self: &Arc<Self>) -> ServedRequest {
        self.awake.wake_cores();
        let came = RequestArrival { at: Instant::now(), in_flight: self.meter.begin_request() };
        ServedRequest { arrival: came, card: Arc::clone(self) }
    }

    pub(super) fn report(&self) -> ServeReport {
        let (in_flight, max_in_flight) = self.meter.in_flight();
        let card = self.live.lock_state().card.rig.card.counters();
        ServeReport {
            name: self.name.clone(),
            target: self.spec_text.clone(),
            seconds: self.live.start.elapsed().as_secs_f64(),
            commands: card.tally.command_count(),
            card,
            in_flight,
            max_in_flight,
            temperature_c: self.live.celsius().map(|c| (c * 10.0).round() / 10.0),
            lag: self.options.timing.then(|| AnswerLag::from_times(self.meter.lags())),
        }
    }

    pub(super) fn is_within(&self, offset: u64, len: u64) -> bool {
        offset.checked_add(len).is_some_and(|end| end <= self.live.bytes)
    }
}

/// Request in flight until it is answered or dropped.
pub(super) struct ServedRequest {
    pub(super) arrival: RequestArrival,
    card: Arc<ServedCard>,
}

impl ServedRequest {
    /// Answers at `due` by `delay`, or at once without it.
    pub(super) fn answer_at<F>(self, delay: Option<&AnswerDelay>, due: Instant, answer: F)
    where
        F: FnOnce() + Send + 'static,
    {
        let Some(delay) = delay else {
            // The request ends before its answer, so that the client's next request is not counted in addition.
            drop(self);
            return answer();
        };
        let card = Arc::clone(&self.card);
        let answered = move |waited: bool| {
            if waited {
                card.meter.record_answer(Instant::now().saturating_duration_since(due));
            }
            drop(self);
            answer();
        };
        delay.answer_at(due, Box::new(answered));
    }
}

impl Drop for ServedRequest {
    fn drop(&mut self) {
        self.card.meter.end_request();
        if std::thread::panicking() {
            self.card.meter.mark_broken();
        }
    }
}

/// Truth of the card with its names and its identity, as JSON.
fn truth_json(spec: &TargetSpec) -> Result<String, ArchetypeError> {
    let card = &spec.archetype;
    let mut document = json!({
        "name": card.name,
        "target": spec.text,
        "seed": spec.seed,
        "announced_bytes": card.shown_bytes(),
    });
    if let (Some(all), Value::Object(truth)) = (document.as_object_mut(), json!(card.truth)) {
        all.extend(truth);
        all.insert("identity".to_owned(), json!(crate::decode_identity(card)?));
    }
    Ok(untrusted_text::escape_json(&format!("{document:#}\n")).into_owned())
}

/// Smallest unit of a card, in bytes.
pub(super) const SECTOR: u64 = 512;

pub(super) struct LiveCard {
    pub(super) bytes: u64,
    start: Instant,
    /// Card time at the start: that of the loaded state.
    clock: f64,
    /// True if discarded ranges read as zeros.
    pub(super) holes_are_zeros: bool,
    state: Mutex<ServedState>,
}

struct ServedState {
    card: SimulatedDevice,
    found: ReadContent,
    /// Card time of the last request in ns; threads may deliver requests out of order, but card time never goes back.
    latest: f64,
    /// True after saving: later writes would be lost in silence, so requests fail.
    closed: bool,
}

/// Time to answer, and the result.
pub(super) type TimedResult<T> = (Instant, CardResult<T>);

/// Arrival of a request, and the number in flight with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestArrival {
    pub(super) at: Instant,
    pub(super) in_flight: u32,
}

impl LiveCard {
    pub(super) fn new(spec: &TargetSpec) -> Result<Self, StateError> {
        let card = SimulatedDevice::new(spec)?;
        let (bytes, clock) = (spec.archetype.shown_bytes(), card.clock);
        let holes_are_zeros = spec.archetype.state.unwritten == UnwrittenRead::Zeros;
        let state = ServedState { card, found: ReadContent::default(), latest: clock, closed: false };
        Ok(LiveCard { bytes, start: Instant::now(), clock, holes_are_zeros, state: Mutex::new(state) })
    }

    /// Closes the card. Unless a thread broke while it changed the card, `save` it to the file of `save=FILE`, once;
    /// dropping it does the same. Fails if the host cannot write the file.
    pub(super) fn close(&self, save: bool) -> Result<(), StateError> {
        let mut state = self.lock_state();
        state.closed = true;
        if !save {
            state.card.cancel_save();
        }
        state.card.close()
    }

    /// Reads a range within the card.
    pub(super) fn read(&self, came: RequestArrival, offset: u64, len: u64) -> TimedResult<Vec<u8>> {
        self.execute_command(came, false, offset, len, |state| state.read_bytes(offset, len))
    }

    /// Reads a range within the card without returning the data.
    pub(super) fn read_unreturned(&self, came: RequestArrival, offset: u64, len: u64) -> TimedResult<()> {
        self.execute_command(came, false, offset, len, |state| state.card.read(offset, len, &mut state.found))
    }

    /// Writes to a range within the card.
    pub(super) fn write(&self, came: RequestArrival, offset: u64, data: &[u8]) -> TimedResult<()> {
        if !is_whole_sectors(offset, data.len() as u64) {
            return self.write_partial_sectors(came, offset, data);
        }
        let (len, data) = (data.len() as u64, WrittenData::Bytes(data));
        self.execute_command(came, true, offset, len, |state| state.card.write(offset, len, data))
    }

    /// Reads, changes and writes whole sectors, since a card knows no smaller unit; a host does the same.
    fn write_partial_sectors(&self, came: RequestArrival, offset: u64, data: &[u8]) -> TimedResult<()> {
        let start = offset - offset % SECTOR;
        let len = (offset + data.len() as u64).next_multiple_of(SECTOR) - start;
        self.execute_request(came, |state, now| {
            let read = state.card.rig.command(now, card_command(came, false, start, len));
            let end = state.card.rig.command(read, card_command(came, true, start, len));
            let mut patch = || {
                state.check_alive_until(end)?;
                let mut sectors = state.read_bytes(start, len)?;
                let from = (offset - start) as usize;
                sectors[from..from + data.len()].copy_from_slice(data);
                state.card.write(start, len, WrittenData::Bytes(&sectors))
            };
            (end, patch())
        })
    }

    /// Writes zeros to whole sectors within the card, at the cost of other data.
    pub(super) fn write_zeros(&self, came: RequestArrival, offset: u64, len: u64) -> TimedResult<()> {
        let zeros = WrittenData::described(IoContent::Constant(0));
        self.execute_command(came, true, offset, len, |state| state.card.write(offset, len, zeros))
    }

    pub(super) fn flush(&self, came: RequestArrival) -> TimedResult<()> {
        self.execute_request(came, |state, now| (state.card.rig.card.flush(now), Ok(())))
    }

    /// Discards whole sectors.
    pub(super) fn discard(&self, came: RequestArrival, offset: u64, len: u64) -> TimedResult<()> {
        self.execute_request(came, |state, now| (state.card.discard(now, offset, len), Ok(())))
    }

    /// Executes a command: takes the card's time, then calls `act` unless the card vanished meanwhile.
    fn execute_command<T>(
        &self,
        came: RequestArrival,
        write: bool,
        offset: u64,
        len: u64,
        act: impl FnOnce(&mut ServedState) -> CardResult<T>,
    ) -> TimedResult<T> {
        self.execute_request(came, |state, now| {
            let end = state.card.rig.command(now, card_command(came, write, offset, len));
            (end, state.check_alive_until(end).and_then(|()| act(state)))
        })
    }

    /// Executes a request if the card still answers.
    fn execute_request<T>(
        &self,
        came: RequestArrival,
        act: impl FnOnce(&mut ServedState, f64) -> (f64, CardResult<T>),
    ) -> TimedResult<T> {
        let (mut state, now) = self.state_at(came);
        if state.closed {
            return (came.at, CardIoError::card_gone("it is closed"));
        }
        let (end, result) = match state.card.check_alive(now) {
            Ok(()) => act(&mut state, now),
            Err(error) => (now, Err(error)),
        };
        (self.start + Duration::from_nanos((end - self.clock) as u64), result)
    }

    /// Temperature now in °C; None without a heat model.
    pub(super) fn celsius(&self) -> Option<f64> {
        let (mut state, now) = self.state_at(RequestArrival { at: Instant::now(), in_flight: 0 });
        state.card.rig.card.celsius(now)
    }

    fn state_at(&self, came: RequestArrival) -> (MutexGuard<'_, ServedState>, f64) {
        let mut state = self.lock_state();
        let since = came.at.saturating_duration_since(self.start).as_nanos() as f64 + self.clock;
        state.latest = state.latest.max(since);
        let now = state.latest;
        (state, now)
    }

    fn lock_state(&self) -> MutexGuard<'_, ServedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn is_whole_sectors(offset: u64, len: u64) -> bool {
    offset.is_multiple_of(SECTOR) && len.is_multiple_of(SECTOR)
}

fn card_command(came: RequestArrival, write: bool, offset: u64, len: u64) -> CardCommand {
    CardCommand { write, offset, len, in_flight: came.in_flight }
}

impl ServedState {
    /// Fails if the card vanishes before a command ends; the command then has no effect.
    fn check_alive_until(&mut self, end: f64) -> CardResult {
        let vanishes = self.card.vanishes_at;
        if end > vanishes { self.card.check_alive(vanishes) } else { Ok(()) }
    }

    fn read_bytes(&mut self, offset: u64, len: u64) -> CardResult<Vec<u8>> {
        self.card.read(offset, len, &mut self.found)?;
        let mut data = vec![0; len as usize];
        self.card.medium.copy_stored(&self.found, &mut data)?;
        self.found.generate_bytes(&mut data);
        Ok(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Arc<ServedCard> {
        let spec = crate::target_spec::parse("sim:constant").unwrap();
        let options = ServingOptions { timing: false, ..ServingOptions::default() };
        Arc::new(
            ServedCard::new(
                &spec,
                "constant".to_owned(),
                &options,
                &Arc::new(CpuLatencyGuard::new(&options)),
            )
            .unwrap(),
        )
    }

    #[test]
    fn panic_during_request_marks_card_broken() {
        let card = slot();
        let theirs = Arc::clone(&card);
        let ended = std::thread::spawn(move || {
            let _request = theirs.begin_request();
            panic!("as a broken model would");
        });
        assert!(ended.join().is_err());
        assert!(card.meter.is_broken());
        assert_eq!(card.meter.in_flight(), (0, 1));
    }
}
