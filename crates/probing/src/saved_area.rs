//! Saved part of a card as a separate target: recipes can write there and nowhere else. All writes are stamps, so that
//! a restore after a crash recognizes them.

use crate::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use crate::write_scope::{StampPlace, WriteScope};
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{IoDriver, ProbeResult, ProbeStop, split_extents};
use cardscope_engine::target::{IoDirection, IoRequest, Target, TargetError, TargetRegion, TargetResult};

/// Target that refuses writes outside its saved region.
pub struct SavedArea<'a> {
    target: &'a mut dyn Target,
    region: TargetRegion,
    salt: u64,
    generation: u32,
}

impl<'a> SavedArea<'a> {
    /// Saves a region and returns it as a target. `salt` is that of the stamps to be written; the journal must have it
    /// already. Fails if the region does not fit the card or is unreadable.
    pub fn save(
        target: &'a mut dyn Target,
        scope: &mut WriteScope<'_>,
        region: TargetRegion,
        salt: u64,
        interrupt: &cardscope_engine::interrupt::InterruptFlag,
    ) -> ProbeResult<SavedArea<'a>> {
        let mut card = IoDriver::new(target, interrupt, PROBE_BLOCK, PROBE_DEPTH)?;
        let end = region.start.checked_add(region.len).filter(|end| *end <= card.bytes());
        let Some(end) = end else {
            return Err(ProbeStop::Target(outside_error(region.start, region.len)));
        };
        scope.allow_stamps(StampPlace { salt, region, max_bytes: u64::MAX }, None);
        let all: Vec<_> = split_extents(region.start, end, card.block()).collect();
        scope.save(&mut card, &all)?;
        if let Some(extent) = all.iter().find(|extent| !scope.covers(**extent)) {
            let what = format!("saving {} bytes at {}", extent.len, extent.offset);
            let reason = "part of it cannot be read, so it is not overwritten";
            return Err(ProbeStop::Target(TargetError::setup(what, reason)));
        }
        drop(card);
        Ok(SavedArea { target, region, salt, generation: 0 })
    }

    fn contains_io(&self, io: &IoRequest) -> bool {
        let end = io.offset.checked_add(u64::from(io.len));
        io.offset >= self.region.start && end.is_some_and(|end| end <= self.region.end())
    }
}

fn outside_error(start: u64, len: u64) -> TargetError {
    TargetError::setup(format!("writing {len} bytes at {start}"), "they are outside the saved area")
}

impl Target for SavedArea<'_> {
    cardscope_engine::delegate_target!(
        [target] info, now, plan, complete, flush, idle, drop_caches, temperature, ping, health, reopen,
        buffer, compare, caveats
    );

    fn submit(&mut self, io: &IoRequest) -> TargetResult {
        if io.direction == IoDirection::Read {
            return self.target.submit(io);
        }
        if !self.contains_io(io) {
            return Err(outside_error(io.offset, u64::from(io.len)));
        }
        self.generation = self.generation.wrapping_add(1);
        let content = IoContent::Stamp { salt: self.salt, generation: self.generation };
        self.target.submit(&IoRequest { content, ..*io })
    }

    /// The saved data is restored later, so it must not be discarded.
    fn discard(&mut self, _range: TargetRegion) -> TargetResult {
        Err(TargetError::Unsupported("no discard where the card's data is preserved".to_owned()))
    }

    fn area(&mut self, bytes: u64) -> TargetResult<TargetRegion> {
        let TargetRegion { start, len: available } = self.region;
        if bytes <= available {
            return Ok(TargetRegion { start, len: bytes });
        }
        Err(TargetError::NoSpace { what: "the test area".to_owned(), needed: bytes, available })
    }

    // A lane would bypass `submit`, so one thread drives all I/O.
    fn lane(&mut self) -> TargetResult<Option<Box<dyn Target>>> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::ContentMatch;
    use cardscope_engine::interrupt::InterruptFlag;
    use cardscope_engine::journal::JournalWriter;
    use cardscope_engine::target::LanePlan;
    use cardscope_model::recipe::KernelPath;
    use cardscope_simulator::SimTarget;
    use cardscope_testkit::memory_journal::MemoryJournal;

    const REGION: TargetRegion = TargetRegion { start: 4 << 20, len: 2 << 20 };

    fn write(offset: u64) -> IoRequest {
        IoRequest { slot: 0, direction: IoDirection::Write, offset, len: 4096, content: IoContent::Noise }
    }

    #[test]
    fn saved_area_refuses_outside_writes_and_writes_stamps() {
        let mut card = SimTarget::open_named("sim:constant?announced_bytes=16MiB").unwrap();
        let mut memory = MemoryJournal::default();
        let mut scope = WriteScope::new(Some(&mut memory));
        let mut area = SavedArea::save(&mut card, &mut scope, REGION, 7, &InterruptFlag::default()).unwrap();
        let plan =
            LanePlan { depth: 1, block: 4096, path: KernelPath::Direct, sync_each: false, own_buffers: true };
        area.plan(&plan).unwrap();
        for offset in [0, REGION.start - 4096, REGION.start + REGION.len, u64::MAX - 4095] {
            assert!(area.submit(&write(offset)).is_err(), "{offset}");
        }
        assert!(area.discard(REGION).is_err() && area.lane().unwrap().is_none());
        let mut done = Vec::new();
        area.submit(&write(REGION.start)).unwrap();
        area.complete(1, &mut done).unwrap();
        area.submit(&IoRequest { direction: IoDirection::Read, ..write(REGION.start) }).unwrap();
        area.complete(1, &mut done).unwrap();
        assert_eq!(area.compare(0, IoContent::Stamp { salt: 7, generation: 1 }).unwrap(), ContentMatch::Same);
        assert_eq!(memory.saved_ranges().iter().map(|k| k.len).sum::<u64>(), REGION.len);
    }

    #[test]
    fn saved_area_refuses_unreadable_region() {
        let mut card =
            SimTarget::open_named("sim:constant?announced_bytes=16MiB&faults.read_error_p=1").unwrap();
        let mut memory = MemoryJournal::default();
        let mut scope = WriteScope::new(Some(&mut memory));
        assert!(SavedArea::save(&mut card, &mut scope, REGION, 7, &InterruptFlag::default()).is_err());
    }
}
