//! What reading tells the marks: the speed in order, which shows what bus and reader let through, and single reads of
//! 4 KiB, for which every class has a limit.

use crate::site::Site;
use cardscope_engine::card::{Piece, Stop, pieces};
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

pub(super) fn measure(site: &mut Site<'_, '_>, into: &mut MarksMeasured) -> Result<(), Stop> {
    site.phase("reading in order");
    into.null_command_s = null_command(site)?;
    into.read_mb_s = in_order(site)?;
    into.read_4k_s = singles(site)?;
    Ok(())
}

fn null_command(site: &mut Site<'_, '_>) -> Result<Option<f64>, Stop> {
    let mut times = Vec::new();
    for _ in 0..9 {
        let Some(time) = (if site.has_time(0.0) { site.ping()? } else { None }) else { break };
        times.push(time);
    }
    Ok(median(&times))
}

/// MB/s. The first read is by itself and does not count: only after it is known whether several at a time, which cannot
/// be taken back, would outlast the time.
fn in_order(site: &mut Site<'_, '_>) -> Result<Option<f64>, Stop> {
    site.shape(BLOCK, DEPTH)?;
    let bytes = STREAM.min(site.region.len / MIB * MIB);
    if bytes < 4 * MIB || !site.has_time(1.0) {
        return Ok(None);
    }
    let places = (site.region.len - bytes) / MIB + 1;
    let start = site.region.start + site.random.below(places) * MIB;
    let mut all = pieces(start, start + bytes, BLOCK);
    let began = site.seconds();
    if let Some(first) = all.next() {
        site.read(first)?;
    }
    let took = site.seconds() - began;
    if !site.has_time(took * f64::from(DEPTH)) {
        return Ok(None);
    }
    let mut ends = Vec::new();
    let seconds = site.seconds_left().min(STREAM_S);
    site.course_for(Direction::Read, seconds, &mut all, |piece, at| ends.push((piece.len, at)))?;
    let (Some(first), Some(last)) = (ends.first().copied(), ends.last().copied()) else { return Ok(None) };
    let moved: u64 = ends.iter().skip(1).map(|(len, _)| u64::from(*len)).sum();
    Ok((last.1 > first.1).then(|| mb_per_s(moved, last.1 - first.1)))
}

fn singles(site: &mut Site<'_, '_>) -> Result<Option<(f64, f64)>, Stop> {
    site.shape(SMALL, 1)?;
    let mut times = Vec::new();
    for _ in 0..SINGLES {
        if !site.has_time(0.1) {
            break;
        }
        let page = site.random.below(site.region.len / u64::from(SMALL));
        let offset = site.region.start + page * u64::from(SMALL);
        times.extend(site.read(Piece { offset, len: SMALL })?);
    }
    Ok(median(&times).map(|middle| (middle, times.iter().copied().fold(0.0, f64::max))))
}
