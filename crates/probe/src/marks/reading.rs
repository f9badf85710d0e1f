//! What reading tells the marks: the speed in order, which shows what bus and reader let through, and single reads of
//! 4 KiB, for which every class has a limit.

use crate::context::Context;
use cardscope_engine::card::{Extent, Stop, extents};
use cardscope_engine::target::Direction;
use cardscope_model::judged_mark::MarksMeasured;
use cardscope_model::statistics::median;
use cardscope_model::units::{MIB, mb_per_s};

/// Bytes of a read in order, and how many are in flight: enough that neither command nor host shows.
const BLOCK: u32 = MIB as u32;
const DEPTH: u32 = 4;
/// Read in order: a second on a UHS-I card.
const STREAM: u64 = 48 * MIB;
/// Seconds after which a slow card has shown enough of it.
const STREAM_S: f64 = 4.0;
/// Single reads.
const SINGLES: usize = 64;
const SMALL: u32 = 4096;

pub(super) fn measure(context: &mut Context<'_, '_>, into: &mut MarksMeasured) -> Result<(), Stop> {
    context.phase("reading in order");
    into.null_command_s = null_command(context)?;
    into.read_mb_s = in_order(context)?;
    into.read_4k_s = singles(context)?;
    Ok(())
}

fn null_command(context: &mut Context<'_, '_>) -> Result<Option<f64>, Stop> {
    let mut times = Vec::new();
    for _ in 0..9 {
        let Some(time) = (if context.has_time(0.0) { context.ping()? } else { None }) else { break };
        times.push(time);
    }
    Ok(median(&times))
}

/// MB/s. The first read is by itself and does not count: only after it is known whether several at a time, which cannot
/// be taken back, would outlast the time.
fn in_order(context: &mut Context<'_, '_>) -> Result<Option<f64>, Stop> {
    context.shape(BLOCK, DEPTH)?;
    let bytes = STREAM.min(context.region.len / MIB * MIB);
    if bytes < 4 * MIB || !context.has_time(1.0) {
        return Ok(None);
    }
    let places = (context.region.len - bytes) / MIB + 1;
    let start = context.region.start + context.random.below(places) * MIB;
    let mut all = extents(start, start + bytes, BLOCK);
    let began = context.seconds();
    if let Some(first) = all.next() {
        context.read(first)?;
    }
    let took = context.seconds() - began;
    if !context.has_time(took * f64::from(DEPTH)) {
        return Ok(None);
    }
    let mut ends = Vec::new();
    let seconds = context.seconds_left().min(STREAM_S);
    context.stream_for(Direction::Read, seconds, &mut all, |extent, at| ends.push((extent.len, at)))?;
    let (Some(first), Some(last)) = (ends.first().copied(), ends.last().copied()) else { return Ok(None) };
    let moved: u64 = ends.iter().skip(1).map(|(len, _)| u64::from(*len)).sum();
    Ok((last.1 > first.1).then(|| mb_per_s(moved, last.1 - first.1)))
}

fn singles(context: &mut Context<'_, '_>) -> Result<Option<(f64, f64)>, Stop> {
    context.shape(SMALL, 1)?;
    let mut times = Vec::new();
    for _ in 0..SINGLES {
        if !context.has_time(0.1) {
            break;
        }
        let page = context.random.below(context.region.len / u64::from(SMALL));
        let offset = context.region.start + page * u64::from(SMALL);
        times.extend(context.read(Extent { offset, len: SMALL })?);
    }
    Ok(median(&times).map(|middle| (middle, times.iter().copied().fold(0.0, f64::max))))
}
