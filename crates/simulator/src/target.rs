//! Simulated card behind the `Target` trait, in virtual time: the clock jumps from completion to completion, so hours
//! of a card's life pass in seconds, and one seed always gives the same times.

use crate::archetype::CardTruth;
use crate::card::CardCommand;
use crate::content::{CardIoError, CardResult, ReadContent, WrittenData};
use crate::identify::{self, SmartInputs};
use crate::page_cache::PageCache;
use crate::simulated_device::SimulatedDevice;
use crate::state_file::{StateDestination, StateError};
use crate::target_spec::{self, SpecError, TargetSpec};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::target::{
    IoCompletion, IoDirection, IoRequest, IoRound, LanePlan, RoundIo, Target, TargetError, TargetInfo,
    TargetRegion, place_area,
};
use cardscope_model::recipe::KernelPath;
use cardscope_model::units::Nanos;
use cardscope_sd::nvme::SmartLog;
use std::collections::VecDeque;
use std::time::Duration;

const SECTOR: u64 = 512;

#[derive(Debug)]
pub struct SimTarget {
    spec: TargetSpec,
    info: TargetInfo,
    card: SimulatedDevice,
    page_cache: PageCache,
    now: Nanos,
    plan: LanePlan,
    slots: Vec<ReadSlot>,
    /// Ordered by end.
    in_flight: VecDeque<PendingIo>,
    /// Errors of I/Os in flight by slot; a list, since few I/Os fail.
    failed: Vec<(u32, Box<TargetError>)>,
    /// Scratch for reads whose content is not compared.
    discarded_read: ReadContent,
}

/// Error of an I/O that failed; boxed, since few do.
type IoFailure = Option<Box<TargetError>>;

#[derive(Debug, Clone, Copy)]
struct PendingIo {
    slot: u32,
    at: Nanos,
}

/// Content of the slot's last read, and its buffer, which is filled on demand.
#[derive(Debug, Default)]
struct ReadSlot {
    last_read: ReadContent,
    bytes: Vec<u8>,
    /// True until the bytes of the last read are generated.
    needs_fill: bool,
}

/// Plan before the first one.
const NO_LANES: LanePlan =
    LanePlan { depth: 0, block: 0, path: KernelPath::Direct, sync_each: false, own_buffers: false };

impl SimTarget {
    /// Opens the card of `spec` in the state that its name gives. Fails if that state cannot be loaded, or cannot be
    /// saved to the file that the name gives.
    pub fn open(spec: TargetSpec) -> Result<SimTarget, StateError> {
        let a = &spec.archetype;
        let info = TargetInfo {
            name: spec.text.clone(),
            bytes: a.shown_bytes(),
            sector: SECTOR as u32,
            io_path: "simulated",
            file_system: None,
            whole_card: true,
        };
        let card = SimulatedDevice::new(&spec)?;
        Ok(SimTarget {
            page_cache: PageCache::new(a),
            now: to_target_time(card.clock),
            card,
            plan: NO_LANES,
            slots: Vec::new(),
            in_flight: VecDeque::new(),
            failed: Vec::new(),
            discarded_read: ReadContent::default(),
            info,
            spec,
        })
    }

    /// Saves the content and the engine state to `path`, to be loaded with `state=FILE`. If that fails, an older file
    /// of that name remains.
    pub fn save(&self, path: &std::path::Path) -> Result<(), StateError> {
        self.card.save(&StateDestination::new(path)?)
    }

    /// Saves the card to the file of `save=FILE`, if its name has that key. Dropping the card does the same, but can
    /// only print an error.
    pub fn close(mut self) -> Result<(), StateError> {
        self.card.close()
    }

    /// Opens the card that `sim:NAME?key=value&…` names.
    pub fn open_named(text: &str) -> Result<SimTarget, SpecError> {
        Ok(SimTarget::open(target_spec::parse(text)?)?)
    }

    /// Changes the reader or the faults of a card in use. `overrides` are keys of `[rig]` and `[faults]`; keys that are
    /// not given return to the values of the card's name.
    pub fn change_rig(&mut self, overrides: &str) -> Result<(), SpecError> {
        let spec = &self.spec;
        let card = target_spec::apply_overrides(&spec.text, spec.archetype.clone(), overrides)?.archetype;
        self.card.change_rig(&card);
        Ok(())
    }

    /// True if the reader falsified the last read into this slot.
    pub fn was_read_falsified(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|slot| slot.last_read.misread)
    }

    pub fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// Correct result of each test of this card.
    pub fn truth(&self) -> &CardTruth {
        &self.spec.archetype.truth
    }

    /// Returns the end of an I/O that is submitted now, in ns.
    #[inline(always)]
    fn completion_time(&mut self, io: &IoRequest) -> f64 {
        let now = to_model_time(self.now);
        let (write, offset, len) = (io.direction == IoDirection::Write, io.offset, u64::from(io.len));
        if self.plan.path == KernelPath::Buffered && !(write && self.plan.sync_each) {
            let (cache, rig) = (&mut self.page_cache, &mut self.card.rig);
            let pass = if write { PageCache::write } else { PageCache::read };
            return pass(cache, rig, now, offset, len);
        }
        let in_flight = self.in_flight.len() as u32 + 1;
        let end = self.card.rig.command(now, CardCommand { write, offset, len, in_flight });
        if !write {
            return end;
        }
        // The page cache must not answer reads with the old data.
        self.page_cache.invalidate(offset..offset + len);
        if self.plan.sync_each { self.card.rig.card.flush(end) } else { end }
    }

    /// Stores the data of a write, or records the content of a read.
    #[inline(always)]
    fn transfer_content(&mut self, io: &IoRequest) -> IoFailure {
        let (offset, len) = (io.offset, u64::from(io.len));
        let SimTarget { card, discarded_read: discarded, .. } = self;
        let result = match io.direction {
            IoDirection::Write if io.content == IoContent::Buffer => return self.write_buffer(io),
            IoDirection::Write => card.write(offset, len, WrittenData::described(io.content)),
            IoDirection::Read if self.plan.own_buffers => self.record_read(io),
            IoDirection::Read if card.reads_have_effects() => card.read(offset, len, discarded),
            IoDirection::Read => Ok(()),
        };
        result.err().map(|error| Box::new(error.into_target_error(io)))
    }

    fn write_buffer(&mut self, io: &IoRequest) -> IoFailure {
        // The buffer may hold a read that was never compared: its bytes must exist before they are written elsewhere.
        let bytes = match self.filled_slot(io.slot) {
            Ok(slot) => std::mem::take(&mut slot.bytes),
            Err(error) => return Some(Box::new(error)),
        };
        let data = WrittenData::Bytes(&bytes[..io.len as usize]);
        let result = self.card.write(io.offset, u64::from(io.len), data);
        self.slots[io.slot as usize].bytes = bytes;
        result.err().map(|error| Box::new(error.into_target_error(io)))
    }

    /// Returns the slot after generating the bytes of its last read.
    fn filled_slot(&mut self, slot: u32) -> Result<&mut ReadSlot, TargetError> {
        let found = self.slot_memory(slot)?;
        if std::mem::take(&mut found.needs_fill) {
            found.last_read.generate_bytes(&mut found.bytes);
        }
        Ok(found)
    }

    /// Records the content of a read now, since a later write must not change it.
    fn record_read(&mut self, io: &IoRequest) -> CardResult {
        let slot = &mut self.slots[io.slot as usize];
        self.card.read(io.offset, u64::from(io.len), &mut slot.last_read)?;
        slot.needs_fill = true;
        if slot.last_read.has_bytes() {
            slot.bytes.resize(self.plan.block as usize, 0);
            self.card.medium.copy_stored(&slot.last_read, &mut slot.bytes)?;
        }
        Ok(())
    }

    fn slot_memory(&mut self, slot: u32) -> Result<&mut ReadSlot, TargetError> {
        let block = self.plan.block as usize;
        match self.slots.get_mut(slot as usize) {
            Some(found) if self.plan.own_buffers => {
                found.bytes.resize(block, 0);
                Ok(found)
            }
            _ => Err(TargetError::Unsupported(format!("slot {slot} was not planned with memory of its own"))),
        }
    }

    /// Error for an I/O beyond the end of the card, or not in whole sectors.
    #[cold]
    fn invalid_io_error(&self, io: &IoRequest) -> TargetError {
        let inside = io.offset.checked_add(u64::from(io.len)).is_some_and(|end| end <= self.info.bytes);
        let (reason, errno) = match inside {
            true => ("offset and length must be multiples of 512 bytes and not 0", libc::EINVAL),
            false => ("beyond the end of the card", libc::ENOSPC),
        };
        CardIoError::Failed { reason: reason.to_owned(), errno }.into_target_error(io)
    }

    fn flush_page_cache(&mut self) {
        let end = self.page_cache.flush(&mut self.card.rig, self.now as f64);
        self.now = self.now.max(to_target_time(end));
    }

    /// Fails if the card is gone; for calls other than reads and writes.
    fn check_alive(&mut self, operation: &'static str) -> Result<(), TargetError> {
        self.card.check_alive(self.now as f64).map_err(|error| error.into_call_error(operation, 0, 0))
    }

    /// Returns the end of an I/O, and its error if it failed. Fails if the card is gone.
    #[inline(always)]
    fn start_io(&mut self, io: &IoRequest) -> Result<(Nanos, IoFailure), TargetError> {
        let len = u64::from(io.len);
        let fits = io.offset.checked_add(len).is_some_and(|end| end <= self.info.bytes);
        let whole = (io.offset | len).is_multiple_of(SECTOR) && len != 0;
        self.card.check_alive(to_model_time(self.now)).map_err(|error| error.into_target_error(io))?;
        Ok(if fits && whole && io.slot < self.plan.depth {
            self.execute_io(io)
        } else {
            (self.now, Some(Box::new(self.invalid_io_error(io))))
        })
    }

    /// Removes and returns the error of an I/O that has just ended.
    #[inline]
    fn take_failure(&mut self, slot: u32) -> IoFailure {
        let place = self.failed.iter().position(|(of, _)| *of == slot)?;
        Some(self.failed.remove(place).1)
    }

    /// Waits for all I/Os in flight and drops their results.
    fn await_all(&mut self) {
        if let Some(last) = self.in_flight.back() {
            self.advance_clock(last.at);
        }
        self.in_flight.clear();
        self.failed.clear();
    }

    #[inline]
    fn advance_clock(&mut self, at: Nanos) {
        self.now = self.now.max(at);
        self.card.clock = to_model_time(self.now);
    }

    /// Executes a valid I/O; returns its end, and its error if it failed. Always inline, as is all code that runs for
    /// each I/O: results that are returned through memory and copied at once stall the processor.
    #[inline(always)]
    fn execute_io(&mut self, io: &IoRequest) -> (Nanos, IoFailure) {
        let end = self.completion_time(io);
        if end > self.card.vanishes_at {
            let at = to_target_time(self.card.vanishes_at).max(self.now);
            let gone = self.card.check_alive(at as f64).err();
            return (at, gone.map(|error| Box::new(error.into_target_error(io))));
        }
        (to_target_time(end).max(self.now), self.transfer_content(io))
    }
}

#[inline]
fn record_end(round: &mut IoRound, ended: RoundIo, failed: IoFailure) -> Result<(), TargetError> {
    match failed.map(|error| *error) {
        None => round.ended.push(ended),
        Some(error @ TargetError::Io { .. }) => round.failed.push((ended, error)),
        Some(error) => return Err(error),
    }
    Ok(())
}

impl Target for SimTarget {
    fn info(&self) -> &TargetInfo {
        &self.info
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn plan(&mut self, plan: &LanePlan) -> Result<(), TargetError> {
        self.await_all();
        self.plan = *plan;
        self.slots.clear();
        if plan.own_buffers {
            self.slots.resize_with(plan.depth as usize, ReadSlot::default);
        }
        self.in_flight.reserve(plan.depth as usize);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let (at, failed) = self.start_io(io)?;
        // The page cache may answer before the card has finished earlier I/Os, but completions must stay in order.
        let at = self.in_flight.back().map_or(at, |last| last.at.max(at));
        self.in_flight.push_back(PendingIo { slot: io.slot, at });
        self.failed.extend(failed.map(|error| (io.slot, error)));
        Ok(())
    }

    #[inline]
    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
        if let Some(last) = at_least.min(self.in_flight.len()).checked_sub(1) {
            self.advance_clock(self.in_flight[last].at);
        }
        let mut gone = None;
        while let Some(PendingIo { slot, at }) = self.in_flight.pop_front_if(|first| first.at <= self.now) {
            let result = self.take_failure(slot).map_or(Ok(()), |error| Err(*error));
            // The other completions are delivered before the card is reported as gone.
            if let Err(error @ TargetError::Gone { .. }) = &result {
                gone = Some(error.clone());
            }
            done.push(IoCompletion { slot, at, result });
        }
        gone.map_or(Ok(()), Err)
    }

    /// Same as `submit` and `complete`, without a `Result` for each completion.
    fn round(&mut self, ios: &[IoRequest], round: &mut IoRound) -> Result<(), TargetError> {
        round.clear_results();
        // The most frequent case needs no queue.
        if let [io] = ios
            && self.in_flight.is_empty()
        {
            let (at, failed) = self.start_io(io)?;
            round.submitted = 1;
            self.advance_clock(at);
            return record_end(round, RoundIo { slot: io.slot, at }, failed);
        }
        for io in ios {
            self.submit(io)?;
            round.submitted += 1;
        }
        if let Some(first) = self.in_flight.front() {
            self.advance_clock(first.at);
        }
        let mut noted = Ok(());
        while let Some(PendingIo { slot, at }) = self.in_flight.pop_front_if(|first| first.at <= self.now) {
            let failed = self.take_failure(slot);
            noted = noted.and(record_end(round, RoundIo { slot, at }, failed));
        }
        noted
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.check_alive("flush")?;
        self.flush_page_cache();
        let end = self.card.rig.card.flush(self.now as f64);
        self.now = self.now.max(to_target_time(end));
        Ok(())
    }

    fn discard(&mut self, range: TargetRegion) -> Result<(), TargetError> {
        self.check_alive("discard")?;
        let end = range.start.saturating_add(range.len).min(self.info.bytes);
        let len = end.saturating_sub(range.start);
        self.page_cache.invalidate(range.start..end);
        let noted = self.card.discard(self.now as f64, range.start, len);
        self.now = self.now.max(to_target_time(noted));
        Ok(())
    }

    fn idle(&mut self, time: Duration) {
        self.now = self.now.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.card.clock = self.now as f64;
    }

    fn area(&mut self, bytes: u64) -> Result<TargetRegion, TargetError> {
        place_area(self.info.bytes, bytes)
    }

    fn drop_caches(&mut self) -> Result<(), TargetError> {
        self.flush_page_cache();
        self.page_cache.drop_clean();
        Ok(())
    }

    fn temperature(&mut self) -> Option<f64> {
        let thermal = self.spec.archetype.thermal.as_ref().filter(|t| t.sensor)?;
        // NVMe reports whole kelvin. Without a heat model the card is at room temperature.
        let celsius = self.card.rig.card.celsius(self.now as f64).unwrap_or(thermal.ambient_c);
        Some(celsius.round())
    }

    fn ping(&mut self) -> Result<Option<Nanos>, TargetError> {
        self.check_alive("ping")?;
        let began = self.now;
        let end = self.card.rig.ping(began as f64);
        self.now = began.max(to_target_time(end));
        Ok(Some(self.now - began))
    }

    fn health(&mut self) -> Option<SmartLog> {
        let now = self.now as f64;
        let (archetype, card) = (&self.spec.archetype, &mut self.card.rig.card);
        let identity = archetype.identity.nvme.as_ref()?;
        let counters = card.counters();
        let all = archetype.wear.map_or(0, |wear| u64::from(wear.spare_blocks));
        let left = counters.spare_blocks.unwrap_or(all);
        let inputs = SmartInputs {
            celsius: card.celsius(now).unwrap_or(identify::room_celsius(archetype)),
            counters,
            heat: card.heat_counters(now),
            seconds: now / 1e9,
            spare_percent: (left * 100).checked_div(all).map_or(100, |percent| percent.min(100) as u8),
        };
        identify::smart_log(identity, &inputs)
    }

    fn reopen(&mut self) -> Result<(), TargetError> {
        self.await_all();
        self.check_alive("reopen")?;
        self.drop_caches()?;
        self.card.reset();
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
        self.filled_slot(slot).map(|found| found.bytes.as_mut_slice())
    }

    fn compare(&mut self, slot: u32, expected: IoContent) -> Result<ContentMatch, TargetError> {
        let Some(found) = self.slots.get(slot as usize).filter(|_| self.plan.own_buffers) else {
            return self.slot_memory(slot).map(|_| ContentMatch::Same);
        };
        let bytes = (!found.bytes.is_empty()).then_some(found.bytes.as_slice());
        let first = found.last_read.first_difference(expected, bytes);
        Ok(first.map_or(ContentMatch::Same, ContentMatch::DiffersAt))
    }
}

/// Model time to target time. Without SSE4.1 `f64::round` would be a call for each I/O, and without AVX-512 the
/// conversion to an unsigned number takes several times as long.
#[inline]
fn to_target_time(time: f64) -> Nanos {
    ((time + 0.5) as i64).max(0) as Nanos
}

#[inline]
fn to_model_time(at: Nanos) -> f64 {
    at.min(i64::MAX as Nanos) as i64 as f64
}
