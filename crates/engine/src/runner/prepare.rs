//! Fills the test area before the first test: on a directory a hole would be read at memory speed, on a card
//! unwritten blocks answer faster than written ones.

use super::drive::{Limits, Shared, Watch, drive};
use super::observer::{Observer, RunError, Settings, Step};
use super::stream::{Stream, StreamPlan, content};
use crate::target::{Plan, Region, Target, TargetError};
use cardscope_model::recipe::{Path, Prepare, RandomDraw};
use cardscope_model::test_name::{Op, Order};
use std::sync::atomic::Ordering;

pub(super) fn prepare(
    target: &mut dyn Target,
    area: Region,
    prepare: Prepare,
    settings: &Settings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    observer.begin(Step::Prepare(area.len));
    let sector = u64::from(target.info().sector);
    let whole = area.len / prepare.block * prepare.block;
    let tail = (area.len - whole) / sector * sector;
    // The last part of an area that is no multiple of the block goes out as one shorter write.
    write(target, Region { start: area.start, len: whole }, prepare.block, prepare, settings, observer)?;
    write(target, Region { start: area.start + whole, len: tail }, tail, prepare, settings, observer)?;
    target.flush()?;
    Ok(())
}

fn write(
    target: &mut dyn Target,
    region: Region,
    block: u64,
    prepare: Prepare,
    settings: &Settings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    if region.len == 0 {
        return Ok(());
    }
    target.plan(&Plan { depth: 1, block, path: Path::Direct, sync_each: false, own_buffers: false })?;
    let mut stream = [Stream::new(StreamPlan {
        region,
        block: block as u32,
        order: Order::Sequential,
        draw: RandomDraw::Permutation,
        op: Op::Write,
        content: content(prepare.data),
        ios: Some(region.len / block),
        seed: settings.seed,
    })];
    let shared = Shared::default();
    let mut tick = |bytes, nanos| observer.progress(bytes, nanos);
    let watch = Watch { interrupt: settings.interrupt, shared: &shared, tick: Some(&mut tick), pace: None };
    drive(target, &mut stream, 1, block as u32, Limits::default(), watch)?;
    match shared.rationed.load(Ordering::Relaxed) {
        true => Err(TargetError::Rationed.into()),
        false => Ok(()),
    }
}
