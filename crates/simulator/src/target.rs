//! A simulated card behind the `Target` trait, in virtual time: the clock jumps from completion to completion, so
//! hours of a card's life pass in seconds and are the same each time for the same seed.

use crate::archetype::{Identity, Lost, Truth};
use crate::card::Command;
use crate::content::{FakeMap, Medium, Piece, What, fill, first_difference};
use crate::page_cache::PageCache;
use crate::rig::Rig;
use crate::target_spec::TargetSpec;
use crate::{archetype::FakeKind, target_spec, target_spec::SpecError};
use cardscope_engine::content::{Content, Match};
use cardscope_engine::target::{
    Completion, Direction, Io, Plan, Region, Target, TargetError, TargetInfo, place_area,
};
use cardscope_model::condition::Condition;
use cardscope_model::recipe::Path;
use cardscope_model::units::Nanos;
use std::collections::VecDeque;
use std::time::Duration;

const SECTOR: u64 = 512;

/// A simulated card in virtual time.
#[derive(Debug)]
pub struct SimTarget {
    spec: TargetSpec,
    info: TargetInfo,
    rig: Rig,
    medium: Medium,
    page_cache: PageCache,
    now: Nanos,
    plan: Plan,
    slots: Vec<Slot>,
    /// In the order in which they end.
    in_flight: VecDeque<Pending>,
}

#[derive(Debug)]
struct Pending {
    slot: u32,
    at: Nanos,
    failed: Option<Box<TargetError>>,
}

/// What a slot last read, and its memory once somebody asks for it.
#[derive(Debug, Default)]
struct Slot {
    offset: u64,
    pieces: Vec<Piece>,
    bytes: Vec<u8>,
    /// True while the bytes of the last read are still to be made.
    unmade: bool,
}

impl SimTarget {
    /// Puts a simulated card into its rig.
    #[must_use]
    pub fn open(spec: TargetSpec) -> SimTarget {
        let a = &spec.archetype;
        let info = TargetInfo {
            name: spec.text.clone(),
            bytes: a.announced_bytes,
            sector: SECTOR as u32,
            io_path: "simulated",
            file_system: None,
            whole_card: true,
        };
        SimTarget {
            rig: Rig::new(a, spec.seed),
            medium: medium(&spec),
            page_cache: PageCache::new(a),
            now: 0,
            plan: Plan { depth: 0, block: 0, path: Path::Direct, sync_each: false, own_buffers: false },
            slots: Vec::new(),
            in_flight: VecDeque::new(),
            info,
            spec,
        }
    }

    /// Opens `sim:NAME?key=value&…`.
    ///
    /// # Errors
    /// If the name leads to no card.
    pub fn named(text: &str) -> Result<SimTarget, SpecError> {
        target_spec::parse(text).map(SimTarget::open)
    }

    /// The card and its overrides.
    #[must_use]
    pub fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// What a probe should find.
    #[must_use]
    pub fn truth(&self) -> &Truth {
        &self.spec.archetype.truth
    }

    /// What the card says of itself.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.spec.archetype.identity
    }

    /// What the rig is set to, in the words of a condition.
    #[must_use]
    pub fn condition(&self) -> Condition {
        self.spec.condition()
    }

    /// When the I/O ends that is submitted now.
    #[inline]
    fn serve(&mut self, io: &Io) -> f64 {
        let now = self.now as f64;
        let (write, offset, len) = (io.direction == Direction::Write, io.offset, u64::from(io.len));
        if self.plan.path == Path::Buffered && !(write && self.plan.sync_each) {
            let (cache, rig) = (&mut self.page_cache, &mut self.rig);
            return if write {
                cache.write(rig, now, offset, len)
            } else {
                cache.read(rig, now, offset, len)
            };
        }
        let in_flight = self.in_flight.len() as u32 + 1;
        let end = self.rig.command(now, Command { write, offset, len, in_flight });
        if !write {
            return end;
        }
        self.page_cache.invalidate(offset..offset + len);
        if self.plan.sync_each { self.rig.card.flush(end) } else { end }
    }

    /// Notes what is written, or what the read found.
    #[inline]
    fn touch(&mut self, io: &Io) -> Option<Box<TargetError>> {
        let len = u64::from(io.len);
        match io.direction {
            Direction::Write if io.content == Content::Buffer => self.write_buffer(io),
            Direction::Write => {
                self.medium.write(io.offset, len, io.content);
                None
            }
            Direction::Read if self.plan.own_buffers => self.look(io),
            Direction::Read if self.spec.archetype.fake.lost == Lost::Error => self.look_only(io),
            Direction::Read => None,
        }
    }

    fn write_buffer(&mut self, io: &Io) -> Option<Box<TargetError>> {
        // What was read into the slot and never looked at may be written elsewhere all the same.
        let bytes = match self.made(io.slot) {
            Ok(slot) => std::mem::take(&mut slot.bytes),
            Err(error) => return Some(Box::new(error)),
        };
        self.medium.write_bytes(io.offset, &bytes[..io.len as usize]);
        self.slots[io.slot as usize].bytes = bytes;
        None
    }

    /// A slot whose memory holds what its last read found.
    fn made(&mut self, slot: u32) -> Result<&mut Slot, TargetError> {
        let found = self.slot_memory(slot)?;
        if std::mem::take(&mut found.unmade) {
            fill(&found.pieces, &mut found.bytes);
        }
        Ok(found)
    }

    /// Keeps what the read found as it is now: a later write must not change it.
    fn look(&mut self, io: &Io) -> Option<Box<TargetError>> {
        let block = self.plan.block as usize;
        let slot = &mut self.slots[io.slot as usize];
        slot.offset = io.offset;
        slot.pieces.clear();
        if self.medium.read(io.offset, u64::from(io.len), &mut slot.pieces).is_err() {
            return Some(Box::new(unreadable(io)));
        }
        slot.unmade = true;
        if slot.pieces.iter().any(|p| p.what == What::Bytes) {
            slot.bytes.resize(block, 0);
            let mut at = 0;
            for piece in &slot.pieces {
                if piece.what == What::Bytes {
                    self.medium.fetch(piece, &mut slot.bytes[at..at + piece.len as usize]);
                }
                at += piece.len as usize;
            }
        }
        None
    }

    fn look_only(&mut self, io: &Io) -> Option<Box<TargetError>> {
        let found = self.medium.read(io.offset, u64::from(io.len), &mut Vec::new());
        found.is_err().then(|| Box::new(unreadable(io)))
    }

    fn slot_memory(&mut self, slot: u32) -> Result<&mut Slot, TargetError> {
        let block = self.plan.block as usize;
        match self.slots.get_mut(slot as usize) {
            Some(found) if self.plan.own_buffers => {
                found.bytes.resize(block, 0);
                Ok(found)
            }
            _ => Err(TargetError::Unsupported(format!("slot {slot} was not planned with memory of its own"))),
        }
    }

    /// What is wrong with an I/O that no card would take.
    #[cold]
    fn refused(&self, io: &Io) -> TargetError {
        let inside = io.offset.checked_add(u64::from(io.len)).is_some_and(|end| end <= self.info.bytes);
        let (reason, errno) = if inside {
            ("offset and length must be multiples of 512 bytes and not 0", libc::EINVAL)
        } else {
            ("beyond the end of the card", libc::ENOSPC)
        };
        io_error(io, reason, errno)
    }

    fn settle_writes(&mut self) {
        let end = self.page_cache.flush(&mut self.rig, self.now as f64);
        self.now = self.now.max(nanos(end));
    }
}

impl Target for SimTarget {
    fn info(&self) -> &TargetInfo {
        &self.info
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn plan(&mut self, plan: &Plan) -> Result<(), TargetError> {
        self.plan = *plan;
        self.slots.clear();
        if plan.own_buffers {
            self.slots.resize_with(plan.depth as usize, Slot::default);
        }
        self.in_flight.reserve(plan.depth as usize);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, io: &Io) -> Result<(), TargetError> {
        let len = u64::from(io.len);
        let fits = io.offset.checked_add(len).is_some_and(|end| end <= self.info.bytes);
        let whole = (io.offset | len).is_multiple_of(SECTOR) && len != 0;
        let (at, failed) = if fits && whole && io.slot < self.plan.depth {
            let end = nanos(self.serve(io));
            (end.max(self.now), self.touch(io))
        } else {
            (self.now, Some(Box::new(self.refused(io))))
        };
        // The page cache may answer before the card has answered what came earlier: ends are kept in order.
        let at = self.in_flight.back().map_or(at, |last| last.at.max(at));
        self.in_flight.push_back(Pending { slot: io.slot, at, failed });
        Ok(())
    }

    #[inline]
    fn complete(&mut self, at_least: usize, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        if let Some(last) = at_least.min(self.in_flight.len()).checked_sub(1) {
            self.now = self.now.max(self.in_flight[last].at);
        }
        while let Some(first) = self.in_flight.front()
            && first.at <= self.now
            && let Some(Pending { slot, at, failed }) = self.in_flight.pop_front()
        {
            done.push(Completion { slot, at, result: failed.map_or(Ok(()), |error| Err(*error)) });
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TargetError> {
        self.settle_writes();
        let end = self.rig.card.flush(self.now as f64);
        self.now = self.now.max(nanos(end));
        Ok(())
    }

    fn discard(&mut self, range: Region) -> Result<(), TargetError> {
        let end = range.start.saturating_add(range.len).min(self.info.bytes);
        let len = end.saturating_sub(range.start);
        self.medium.discard(range.start, len);
        self.page_cache.invalidate(range.start..end);
        let noted = self.rig.card.discard(self.now as f64, range.start, len);
        self.now = self.now.max(nanos(noted));
        Ok(())
    }

    fn idle(&mut self, time: Duration) {
        self.now = self.now.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    fn area(&mut self, bytes: u64) -> Result<Region, TargetError> {
        place_area(self.info.bytes, bytes)
    }

    fn drop_caches(&mut self) -> Result<(), TargetError> {
        self.settle_writes();
        self.page_cache.drop_clean();
        Ok(())
    }

    fn temperature(&mut self) -> Option<f64> {
        let thermal = self.spec.archetype.thermal.as_ref().filter(|t| t.sensor)?;
        // NVMe reports whole kelvin. A card without heat is as warm as the room.
        let celsius = self.rig.card.celsius(self.now as f64).unwrap_or(thermal.ambient_c);
        Some(celsius.round())
    }

    fn reopen(&mut self) -> Result<(), TargetError> {
        self.drop_caches()?;
        self.rig.card.reset();
        self.in_flight.clear();
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Result<&mut [u8], TargetError> {
        self.made(slot).map(|found| found.bytes.as_mut_slice())
    }

    fn compare(&mut self, slot: u32, expected: Content) -> Result<Match, TargetError> {
        let found = match self.slots.get(slot as usize) {
            Some(found) if self.plan.own_buffers => found,
            _ => return self.slot_memory(slot).map(|_| Match::Same),
        };
        let bytes = (!found.bytes.is_empty()).then_some(found.bytes.as_slice());
        Ok(first_difference(&found.pieces, found.offset, expected, bytes)
            .map_or(Match::Same, Match::DiffersAt))
    }
}

/// The medium of a card, behind its fake map.
pub(crate) fn medium(spec: &TargetSpec) -> Medium {
    let fake = &spec.archetype.fake;
    let map = FakeMap::new(fake, spec.archetype.announced_bytes);
    Medium::new(map, fake.kind == FakeKind::None, fake.lost)
}

/// The model's time on the target's clock; without SSE4.1 `f64::round` would be a call for each I/O.
#[inline]
fn nanos(time: f64) -> Nanos {
    (time + 0.5) as Nanos
}

fn unreadable(io: &Io) -> TargetError {
    io_error(io, "the card cannot read this block", libc::EIO)
}

fn io_error(io: &Io, reason: &str, errno: i32) -> TargetError {
    let operation = match io.direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    let reason = reason.to_owned();
    TargetError::Io { operation, offset: io.offset, len: u64::from(io.len), reason, errno }
}
