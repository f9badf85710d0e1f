//! Fills the test area before the first test: on a directory a hole would be read at memory speed, on a card
//! unwritten blocks answer faster than written ones.

use super::drive::{Limits, Shared, Watch, drive};
use super::stream::{Stream, StreamPlan, content};
use super::{Pass, RunError};
use crate::target::{Plan, Region, TargetError};
use cardscope_model::recipe::{Path, Prepare, RandomDraw};
use cardscope_model::test_name::{Op, Order};
use cardscope_model::units::seconds;
use std::sync::atomic::Ordering;

impl Pass<'_> {
    /// Writes all of a region once.
    pub(super) fn prepare(&mut self, area: Region, prepare: Prepare) -> Result<(), RunError> {
        self.phase("writing the test area", Some(area.len), None);
        let sector = u64::from(self.target.info().sector);
        let whole = area.len / prepare.block * prepare.block;
        let tail = (area.len - whole) / sector * sector;
        // The last part of an area that is no multiple of the block goes out as one shorter write.
        self.write(Region { start: area.start, len: whole }, prepare.block, prepare)?;
        self.write(Region { start: area.start + whole, len: tail }, tail, prepare)?;
        self.target.flush()?;
        Ok(())
    }

    fn write(&mut self, region: Region, block: u64, prepare: Prepare) -> Result<(), RunError> {
        if region.len == 0 {
            return Ok(());
        }
        self.target.plan(&Plan {
            depth: 1,
            block,
            path: Path::Direct,
            sync_each: false,
            own_buffers: false,
        })?;
        let mut stream = [Stream::new(StreamPlan {
            region,
            block: block as u32,
            order: Order::Sequential,
            draw: RandomDraw::Permutation,
            op: Op::Write,
            content: content(prepare.data),
            ios: Some(region.len / block),
            seed: self.settings.seed,
        })];
        let shared = Shared::default();
        let mut tick = |bytes, nanos| self.listener.progress(bytes, seconds(nanos));
        let interrupt = self.settings.interrupt;
        let watch = Watch { interrupt, shared: &shared, tick: Some(&mut tick), pace: None };
        drive(self.target, &mut stream, 1, block as u32, Limits::default(), watch)?;
        match shared.rationed.load(Ordering::Relaxed) {
            true => Err(TargetError::Rationed.into()),
            false => Ok(()),
        }
    }
}
