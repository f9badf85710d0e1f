//! A test file that nothing was written to holds extents which the file system answers by itself, with zeros and without
//! the card: before reads of it are timed it is written.

use crate::context::ProbeContext;
use cardscope_engine::card::{CardExtent, ProbeStop, extents};

/// Bytes of a write.
const WRITE: u32 = 1 << 20;

/// Share of the time left that it may take: what is to be read wants some, too.
const SHARE: f64 = 0.5;

/// Share of that after which what was written tells how long the rest takes. Before, one write that stalls would.
const KNOWN: f64 = 0.25;

/// Writes all of `len` bytes from `start` on, in which reads will be timed. The reason where that cannot be done.
///
/// # Errors
/// If the card is gone or the user stopped it.
pub fn fill(context: &mut ProbeContext<'_, '_>, start: u64, len: u64) -> Result<Option<String>, ProbeStop> {
    if !context.may_write(len) {
        return Ok(Some(unwritten("the write limit is too low")));
    }
    context.events.phase("writing the test file", Some(len), None);
    context.shape(WRITE, 1)?;
    let (began, most) = (context.seconds(), SHARE * context.seconds_left());
    let end = start + len;
    for extent in extents(start, end, WRITE).collect::<Vec<CardExtent>>() {
        let (done, spent) = ((extent.offset - start) as f64, context.seconds() - began);
        let rest = if done > 0.0 && spent >= KNOWN * most {
            spent / done * (end - extent.offset) as f64
        } else {
            0.0
        };
        if spent + rest > most || !context.has_time(rest) {
            return Ok(Some(unwritten("no time left to write it")));
        }
        context.prepare(&[extent])?;
        if context.write(extent)?.is_none() {
            return Ok(Some(unwritten("writing it failed")));
        }
        context.events.progress(extent.end() - start);
    }
    context.flush()?;
    Ok(None)
}

/// Why reads of a file are not timed.
pub fn unwritten(why: &str) -> String {
    format!("reads of an unwritten file do not reach the card; {why}")
}
