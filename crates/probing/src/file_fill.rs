//! Writing of a test file before its reads are timed: file systems answer unwritten extents with zeros, without the
//! card.

use crate::context::ProbeContext;
use cardscope_engine::io_driver::{CardExtent, ProbeResult, split_extents};

const WRITE_BYTES: u32 = 1 << 20;

/// The reads that follow need the rest of the time.
const TIME_SHARE: f64 = 0.5;

/// Share of the time limit after which the speed so far predicts the rest. Earlier, one stalled write would distort it.
const PREDICTION_SHARE: f64 = 0.25;

/// Writes `len` bytes from `start` on. Returns the reason if it could not be completed.
pub fn write_test_file(
    context: &mut ProbeContext<'_, '_>,
    start: u64,
    len: u64,
) -> ProbeResult<Option<String>> {
    if !context.may_write(len) {
        return Ok(Some(unwritten_reason("the write limit is too low")));
    }
    context.events.begin_phase("writing the test file", Some(len), None);
    context.set_queue(WRITE_BYTES, 1)?;
    let (began, most) = (context.seconds(), TIME_SHARE * context.seconds_left());
    let end = start + len;
    for extent in split_extents(start, end, WRITE_BYTES).collect::<Vec<CardExtent>>() {
        let (done, spent) = ((extent.offset - start) as f64, context.seconds() - began);
        let rest = if done > 0.0 && spent >= PREDICTION_SHARE * most {
            spent / done * (end - extent.offset) as f64
        } else {
            0.0
        };
        if spent + rest > most || !context.has_time(rest) {
            return Ok(Some(unwritten_reason("no time left to write it")));
        }
        context.save_before_write(&[extent])?;
        if context.time_write(extent)?.is_none() {
            return Ok(Some(unwritten_reason("writing it failed")));
        }
        context.events.report_bytes(extent.end() - start);
    }
    context.flush()?;
    Ok(None)
}

pub fn unwritten_reason(why: &str) -> String {
    format!("reads of an unwritten file do not reach the card; {why}")
}
