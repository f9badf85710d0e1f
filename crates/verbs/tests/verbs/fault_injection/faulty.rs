//! Target that injects faults in front of a simulated card. It replaces a real device, below all of Cardscope, and records
//! what really reached the card.

use super::fault::{Due, Fault, PutIn, Wrong};
use super::scenario::{FaultScenario, SECTOR, sector};
use cardscope_engine::content::{self, ContentMatch, IoContent};
use cardscope_engine::target::{
    IoCompletion, IoDirection, IoRequest, LanePlan, Target, TargetError, TargetInfo, TargetRegion,
};
use cardscope_model::caveat::Caveat;
use cardscope_model::units::Nanos;
use cardscope_sd::nvme::SmartLog;
use cardscope_simulator::SimTarget;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Speed in bytes a second by which a lost write takes time.
const LOSES_AT: u64 = 20_000_000;

pub(super) struct FaultyTarget {
    info: TargetInfo,
    /// `None` once the card was removed.
    card: Option<SimTarget>,
    is_own: bool,
    table: Arc<Mutex<FaultScenario>>,
    /// I/Os in flight: their answer, and true if their range had failed before.
    flying: Vec<(IoRequest, Answer, bool)>,
    /// Completions made by the injector, or of the card and ready to be returned.
    made_up: Vec<IoCompletion>,
    /// Wrong data by slot, in place of the card's buffer.
    spoiled: BTreeMap<u32, Spoiled>,
    /// Slots misread by a lasting fault, not yet compared.
    misread: BTreeSet<u32>,
    /// Slots with sectors whose last write was lost, not yet compared.
    stale: BTreeSet<u32>,
    /// Active fault, and its remaining strikes.
    striking: Option<(Fault, u32)>,
    /// Error of all further calls.
    over: Option<TargetError>,
    block: u64,
    now: Nanos,
}

/// Treatment of the card's answer.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    True,
    Wrong(Wrong),
    Short,
}

/// Wrong data of a slot; its first `len` bytes were read at `offset`.
#[derive(Debug, Default)]
struct Spoiled {
    offset: u64,
    len: usize,
    bytes: Vec<u8>,
}

impl FaultyTarget {
    pub(super) fn new(mut card: SimTarget, is_own: bool, table: Arc<Mutex<FaultScenario>>) -> Self {
        let (info, now) = (card.info().clone(), card.now());
        FaultyTarget {
            info,
            card: Some(card),
            is_own,
            table,
            flying: Vec::new(),
            made_up: Vec::new(),
            spoiled: BTreeMap::new(),
            misread: BTreeSet::new(),
            stale: BTreeSet::new(),
            striking: None,
            over: None,
            block: 0,
            now,
        }
    }

    fn table(&self) -> MutexGuard<'_, FaultScenario> {
        self.table.lock().unwrap()
    }

    /// Counts a call and applies the pending fault.
    fn call(&mut self, operation: &'static str, offset: u64) -> Result<(), TargetError> {
        let mut table = self.table.lock().unwrap();
        table.steps += 1;
        table.truth.called(operation, offset);
        assert!(table.steps < table.most_steps, "no end after {} calls on the target", table.steps);
        let step = table.steps - 1;
        if let Some(Due { fault, .. }) = table.due.take_if(|due| due.step <= step) {
            table.truth.harmed |= !fault.is_harmless();
            match fault {
                Fault::Signal { again } => {
                    table.interrupt.raise();
                    let dies =
                        |after| Due { step: step + u64::from(after), fault: Fault::Kill { torn: false } };
                    table.due = again.map(dies);
                }
                Fault::FullDisk { archive, journals } => table.disks.fill(archive, journals),
                Fault::Kill { torn: false } => {
                    table.simulate_kill(self.card.as_ref().or(table.own.card.as_ref()).unwrap())
                }
                Fault::Stall { seconds } => {
                    if let Some(card) = &mut self.card {
                        card.idle(Duration::from_secs(seconds.into()));
                    }
                }
                Fault::Vanish(put_in) => {
                    let piece = if self.is_own { &mut table.own } else { &mut table.other };
                    piece.card = self.card.take();
                    table.slot = put_in;
                    self.over = Some(gone(operation, offset));
                }
                Fault::Silent => {
                    self.over =
                        Some(TargetError::Silent { operation, offset, reason: "no answer".to_owned() });
                }
                Fault::Lasting(lasting) => {
                    if let Some(card) = &mut self.card {
                        card.change_rig(lasting.overrides).unwrap();
                    }
                    table.lasting = lasting.overrides;
                }
                fault => self.striking = Some((fault, count(fault))),
            }
        }
        drop(table);
        self.over.clone().map_or(Ok(()), Err)
    }

    /// Returns the active fault if it applies to this call, and counts the strike.
    fn strikes(&mut self, wanted: impl Fn(Fault) -> bool) -> Option<Fault> {
        let (fault, left) = self.striking.as_mut().filter(|(fault, _)| wanted(*fault))?;
        let fault = *fault;
        *left -= 1;
        if *left == 0 {
            self.striking = None;
        }
        Some(fault)
    }

    fn card(&mut self) -> &mut SimTarget {
        self.card.as_mut().unwrap()
    }

    /// Completes an I/O in place of the card.
    fn make_up(&mut self, io: &IoRequest, result: Result<(), TargetError>) {
        if result.is_err() && io.direction == IoDirection::Write {
            self.table().truth.errors += 1;
        }
        let at = self.now();
        self.made_up.push(IoCompletion { slot: io.slot, at, result });
    }

    /// Passes the first `len` bytes of an I/O to the card.
    fn hand_on(&mut self, io: &IoRequest, len: u32, answer: Answer) -> Result<(), TargetError> {
        if len == 0 {
            return Ok(());
        }
        let from = self.spoiled.remove(&io.slot);
        let writes = io.direction == IoDirection::Write && io.content == IoContent::Buffer;
        if let Some(Spoiled { bytes, .. }) = from.filter(|_| writes) {
            self.card().buffer(io.slot)?[..bytes.len()].copy_from_slice(&bytes);
        }
        self.card().submit(&IoRequest { len, ..*io })?;
        let again = self.is_own && self.table().truth.all(io.offset, u64::from(io.len), sector::FAILED);
        self.flying.push((*io, answer, again));
        Ok(())
    }

    fn read(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let len = u64::from(io.len);
        self.stale.remove(&io.slot);
        if self.is_own && self.table().truth.any(io.offset, len, sector::LOST) {
            self.stale.insert(io.slot);
        }
        let reads = |fault: Fault| matches!(fault, Fault::ShortReads { .. } | Fault::WrongData { .. });
        let answer = match self.strikes(reads) {
            Some(Fault::WrongData { kind, .. }) => Answer::Wrong(kind),
            Some(_) => Answer::Short,
            None => Answer::True,
        };
        self.hand_on(io, io.len, answer)
    }

    fn write(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        let half = io.len / SECTOR as u32 / 2 * SECTOR as u32;
        let whole = u64::from(io.len);
        match self.strikes(|fault| matches!(fault, Fault::LostWrites { .. } | Fault::Kill { .. })) {
            Some(Fault::LostWrites { half: keeps_half, .. }) => {
                let landed = if keeps_half { half } else { 0 };
                self.lands(io, landed)?;
                let mut table = self.table();
                let rest = whole - u64::from(landed);
                table.truth.set(io.offset + u64::from(landed), rest, sector::LOST);
                table.truth.clear(io.offset + u64::from(landed), rest, sector::REFUSED);
                drop(table);
                self.card().idle(Duration::from_micros(whole * 1_000_000 / LOSES_AT));
                self.make_up(io, Ok(()));
                Ok(())
            }
            Some(_) => {
                self.lands(io, half)?;
                let table = self.table();
                table.simulate_kill(self.card.as_ref().unwrap())
            }
            None => {
                self.note_write(io.offset, whole);
                self.hand_on(io, io.len, Answer::True)
            }
        }
    }

    /// Writes the first `len` bytes to the card and hides the completion.
    fn lands(&mut self, io: &IoRequest, len: u32) -> Result<(), TargetError> {
        self.hand_on(io, len, Answer::True)?;
        if len > 0 {
            self.note_write(io.offset, u64::from(len));
            self.flying.pop();
            let mut answers = Vec::new();
            while !answers.iter().any(|answer: &IoCompletion| answer.slot == io.slot) {
                self.card().complete(1, &mut answers)?;
            }
            answers.retain(|answer| answer.slot != io.slot);
            answers.into_iter().for_each(|answer| self.take(answer));
        }
        Ok(())
    }

    fn note_write(&mut self, offset: u64, len: u64) {
        let is_own = self.is_own;
        let truth = &mut self.table().truth;
        if !is_own {
            truth.other_writes += 1;
            return;
        }
        truth.written += len;
        truth.set(offset, len, sector::TOUCHED);
        truth.clear(offset, len, sector::LOST | sector::REFUSED);
    }

    /// Applies the treatment to a completion of the card.
    fn take(&mut self, mut done: IoCompletion) {
        let at = self.flying.iter().position(|(io, ..)| io.slot == done.slot).unwrap();
        let (io, answer, again) = self.flying.remove(at);
        if self.is_own {
            let truth = &mut self.table().truth;
            match &done.result {
                Ok(()) => truth.clear(io.offset, u64::from(io.len), sector::FAILED),
                Err(_) => truth.failed(&io, again),
            }
        }
        if done.result.is_ok() && self.card().was_read_falsified(io.slot) {
            self.misread.insert(io.slot);
        }
        if done.result.is_ok() && answer != Answer::True {
            let bytes = self.wrong(&io, answer);
            self.spoiled.insert(io.slot, Spoiled { offset: io.offset, len: bytes.len(), bytes });
            if answer == Answer::Short {
                done.result = Err(failed(&io, "only half of it was moved"));
            }
        }
        self.made_up.push(done);
    }

    fn wrong(&mut self, io: &IoRequest, answer: Answer) -> Vec<u8> {
        let Ok(memory) = self.card().buffer(io.slot) else { return Vec::new() };
        let mut bytes = memory[..io.len as usize].to_vec();
        let half = bytes.len() / 2;
        let right = bytes.clone();
        match answer {
            Answer::Wrong(Wrong::OneBit) => bytes[half] ^= 0x10,
            Answer::Wrong(Wrong::Zeros) => bytes.fill(0),
            Answer::Wrong(Wrong::Swapped) if half >= SECTOR as usize => bytes.rotate_left(SECTOR as usize),
            _ => bytes[half..].fill(0xa5),
        }
        if self.is_own && answer != Answer::Short {
            let mut table = self.table();
            let mut before = vec![0; bytes.len()];
            table.before.read_exact_at(&mut before, io.offset).unwrap();
            let held = |at: usize| right[at..at + SECTOR as usize] == before[at..at + SECTOR as usize];
            table.truth.misread(io.offset, &bytes, held);
        }
        bytes
    }
}

fn count(fault: Fault) -> u32 {
    match fault {
        Fault::Errors { count, .. }
        | Fault::ShortReads { count }
        | Fault::WrongData { count, .. }
        | Fault::LostWrites { count, .. } => count,
        _ => 1,
    }
}

fn word(direction: IoDirection) -> &'static str {
    if direction == IoDirection::Read { "read" } else { "write" }
}

fn failed(io: &IoRequest, reason: &str) -> TargetError {
    let (operation, len) = (word(io.direction), u64::from(io.len));
    TargetError::Io { operation, offset: io.offset, len, reason: reason.to_owned(), errno: 5 }
}

fn gone(operation: &'static str, offset: u64) -> TargetError {
    TargetError::Gone { operation, offset, reason: "No such device".to_owned() }
}

impl Target for FaultyTarget {
    fn info(&self) -> &TargetInfo {
        &self.info
    }

    fn now(&mut self) -> Nanos {
        if let Some(card) = &mut self.card {
            self.now = card.now();
        }
        self.now
    }

    fn plan(&mut self, plan: &LanePlan) -> Result<(), TargetError> {
        self.call("plan", 0)?;
        self.block = plan.block;
        self.flying.clear();
        self.made_up.clear();
        self.spoiled.clear();
        self.misread.clear();
        self.card().plan(plan)
    }

    fn submit(&mut self, io: &IoRequest) -> Result<(), TargetError> {
        self.call(word(io.direction), io.offset)?;
        let (writes, len) = (io.direction == IoDirection::Write, u64::from(io.len));
        self.misread.remove(&io.slot);
        if let Some((Fault::BadSector, _)) = self.striking.take_if(|(fault, _)| *fault == Fault::BadSector) {
            self.table().truth.set(io.offset, SECTOR, sector::BAD);
        }
        let bad = self.is_own && self.table().truth.any(io.offset, len, sector::BAD);
        let error = if bad { None } else { self.strikes(|fault| matches!(fault, Fault::Errors { .. })) };
        if !bad && error.is_none() {
            return if writes { self.write(io) } else { self.read(io) };
        }
        if writes {
            if let Some(Fault::Errors { torn: true, .. }) = error {
                let landed = io.len / SECTOR as u32 / 2 * SECTOR as u32;
                self.lands(io, landed)?;
                self.table().truth.landed_of_failed += u64::from(landed);
            }
            self.table().truth.set(io.offset, len, sector::REFUSED);
        }
        self.spoiled.remove(&io.slot);
        self.make_up(io, Err(failed(io, "Input/output error")));
        Ok(())
    }

    fn complete(&mut self, at_least: usize, done: &mut Vec<IoCompletion>) -> Result<(), TargetError> {
        if let Err(over) = self.call("complete", 0) {
            let at = self.now();
            done.append(&mut self.made_up);
            let lost = self.flying.drain(..).map(|(io, ..)| io.slot);
            done.extend(lost.map(|slot| IoCompletion { slot, at, result: Err(over.clone()) }));
            return Err(over);
        }
        let mut answers = Vec::new();
        let wanted = at_least.saturating_sub(self.made_up.len()).min(self.flying.len());
        self.card().complete(wanted, &mut answers)?;
        answers.into_iter().for_each(|answer| self.take(answer));
        done.append(&mut self.made_up);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.call("flush", 0)?;
        if self.strikes(|fault| matches!(fault, Fault::Errors { .. })).is_some() {
            self.table().truth.errors += 1;
            let reason = "Input/output error".to_owned();
            return Err(TargetError::Io { operation: "flush", offset: 0, len: 0, reason, errno: 5 });
        }
        self.card().flush()
    }

    fn discard(&mut self, range: TargetRegion) -> Result<(), TargetError> {
        self.call("discard", range.start)?;
        if self.is_own {
            self.table().truth.set(range.start, range.len, sector::TOUCHED);
        }
        self.card().discard(range)
    }

    fn idle(&mut self, time: Duration) {
        if self.call("idle", 0).is_ok() {
            self.card().idle(time);
        }
    }

    fn area(&mut self, bytes: u64) -> Result<TargetRegion, TargetError> {
        self.call("area", 0)?;
        self.card().area(bytes)
    }

    fn drop_caches(&mut self) -> Result<(), TargetError> {
        self.call("drop caches", 0)?;
        self.card().drop_caches()
    }

    fn temperature(&mut self) -> Option<f64> {
        self.card.as_mut()?.temperature()
    }

    fn ping(&mut self) -> Result<Option<Nanos>, TargetError> {
        self.call("ping", 0)?;
        self.card().ping()
    }

    fn health(&mut self) -> Option<SmartLog> {
        self.card.as_mut()?.health()
    }

    fn reopen(&mut self) -> Result<(), TargetError> {
        self.call("reopen", 0)?;
        self.flying.clear();
        self.made_up.clear();
        self.spoiled.clear();
        self.misread.clear();
        self.card().reopen()
    }

    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
        let block = self.block as usize;
        if let Some(card) = self.card.as_mut().filter(|_| !self.spoiled.contains_key(&slot)) {
            return card.buffer(slot);
        }
        let bytes = &mut self.spoiled.entry(slot).or_default().bytes;
        bytes.resize(block, 0);
        Ok(bytes)
    }

    fn compare(&mut self, slot: u32, expected: IoContent) -> Result<ContentMatch, TargetError> {
        if self.misread.remove(&slot) {
            self.table().truth.misread_stamps += 1;
        }
        if self.stale.remove(&slot) {
            self.table().truth.stale_reads += 1;
        }
        match (self.spoiled.get(&slot), &mut self.card) {
            (Some(found), _) => {
                Ok(content::compare_content(expected, found.offset, &found.bytes[..found.len]))
            }
            (None, Some(card)) => card.compare(slot, expected),
            (None, None) => Err(gone("compare", 0)),
        }
    }

    fn caveats(&self) -> Vec<Caveat> {
        self.card.as_ref().map(Target::caveats).unwrap_or_default()
    }
}

impl Drop for FaultyTarget {
    /// A closed card stays in the slot.
    fn drop(&mut self) {
        let Some(mut card) = self.card.take() else { return };
        let _ = card.complete(self.flying.len(), &mut Vec::new());
        let Ok(mut table) = self.table.lock() else { return };
        let piece = if self.is_own { &mut table.own } else { &mut table.other };
        piece.card = Some(card);
        if table.slot == PutIn::Nothing {
            table.slot = if self.is_own { PutIn::Same } else { PutIn::Other };
        }
    }
}
