//! Reads and writes as SD Express classes demand: large I/Os, a queue that is never empty, the slowest 600 MB in a row
//! (docs/reference/sd.md#sd-express-classes).

use super::tester::MarkTester;
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_engine::target::IoDirection;
use cardscope_model::mark_result::QueuedStream;
use cardscope_model::units::{MIB, mb_per_s};

/// Bytes of an I/O. The specification writes 4, 5 or 6 MB.
const BLOCK: u32 = 4 * MIB as u32;
/// I/Os in flight, enough that the card never waits.
const DEPTH: u32 = 8;
/// Bytes of the window that decides: 600 MB in whole blocks.
const WINDOW: u64 = 600_000_000 / BLOCK as u64 * BLOCK as u64;
/// Factor of the time if data is preserved: saving reads it, restoring writes it again.
const PRESERVE_FACTOR: f64 = 3.0;
/// Windows by default, and if content may be lost.
const WINDOWS: u64 = 2;
const WINDOWS_THOROUGH: u64 = 8;

impl MarkTester<'_, '_, '_> {
    /// Reads, then writes with a full queue, if the card is connected over PCIe.
    pub(super) fn stream_with_a_queue(&mut self) -> Result<(), ProbeStop> {
        if !self.options.bus.pcie {
            return Ok(());
        }
        let most = if self.options.is_thorough() { WINDOWS_THOROUGH } else { WINDOWS };
        let directions = if self.readable { &[false, true][..] } else { &[true] };
        for write in directions.iter().copied() {
            let what = if write { "writing" } else { "reading" };
            let speed = if write { self.into.writing.first().map(|w| w.mb_s) } else { self.into.read_mb_s };
            let Some(mb_s) = speed else {
                let why = "its speed was not measured before";
                self.report_skipped(format!("{what} with a full queue for the E classes: {why}"));
                continue;
            };
            let mut found = None;
            let bytes = [most * WINDOW, WINDOWS * WINDOW];
            if let Some(bytes) = bytes.into_iter().find(|bytes| self.can_stream(write, *bytes, mb_s)) {
                self.context.begin_phase(&format!("{what} with a full queue"));
                found = self.stream_blocks(write, bytes)?;
            }
            if found.is_none() {
                let what = format!("{what} {} MB", WINDOWS * WINDOW / 1_000_000);
                let why = "no time, write limit or space left";
                self.report_skipped(format!("{what} with a full queue for the E classes: {why}"));
            }
            self.into.streams.extend(found);
        }
        Ok(())
    }

    /// True if there is room, time at this speed, and permission for so many bytes.
    fn can_stream(&mut self, write: bool, bytes: u64, mb_s: f64) -> bool {
        let keeping = if write && self.context.saves_first() { PRESERVE_FACTOR } else { 1.0 };
        bytes <= self.context.region.len
            && (!write || self.context.may_write(bytes))
            && self.context.has_time(bytes as f64 / 1e6 / mb_s * keeping)
    }

    fn stream_blocks(&mut self, write: bool, bytes: u64) -> Result<Option<QueuedStream>, ProbeStop> {
        self.context.set_queue(BLOCK, DEPTH)?;
        let start = self.random_offset(bytes, 64 * MIB).min(self.context.region.end() - bytes);
        let all: Vec<CardExtent> = split_extents(start, start + bytes, BLOCK).collect();
        if write && !self.context.try_save_before_write(&all)? {
            return Ok(None);
        }
        let direction = if write { IoDirection::Write } else { IoDirection::Read };
        let mut ends: Vec<(u64, f64)> = Vec::with_capacity(all.len());
        let left = self.context.seconds_left();
        let ended = |extent: CardExtent, at| ends.push((u64::from(extent.len), at));
        self.context.stream_for(direction, left, &mut all.into_iter(), ended)?;
        // Less than one window cannot be judged.
        Ok(summarize_stream(write, &ends).filter(|found| found.bytes >= WINDOW))
    }
}

/// Summarizes a stream without the first I/Os, which only fill the queue.
fn summarize_stream(write: bool, ends: &[(u64, f64)]) -> Option<QueuedStream> {
    let (warm, rest) = ends.split_at_checked(DEPTH as usize)?;
    let began = warm.last()?.1;
    let bytes: u64 = rest.iter().map(|(len, _)| len).sum();
    let seconds = rest.last()?.1 - began;
    let before = |i: usize| if i == 0 { began } else { rest[i - 1].1 };
    Some(QueuedStream {
        write,
        io_bytes: u64::from(BLOCK),
        bytes,
        mb_s: mb_per_s(bytes, seconds),
        worst_mb_s: worst_window(began, rest),
        longest_s: (0..rest.len()).map(|i| rest[i].1 - before(i)).fold(0.0, f64::max),
    })
}

/// Speed of the slowest window, at any offset.
fn worst_window(began: f64, ends: &[(u64, f64)]) -> f64 {
    let count = ((WINDOW / u64::from(BLOCK)) as usize).min(ends.len());
    let speed = |first: usize| {
        let from = if first == 0 { began } else { ends[first - 1].1 };
        let bytes: u64 = ends[first..first + count].iter().map(|(len, _)| len).sum();
        mb_per_s(bytes, ends[first + count - 1].1 - from)
    };
    (0..=ends.len() - count).map(speed).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowest_600_mb_window_counts_at_any_offset() {
        // 450 blocks at 400 MB/s with 143 blocks (600 MB) at 200 MB/s among them.
        let block = f64::from(BLOCK) / 1e6;
        let mut at = 0.0;
        let ends: Vec<(u64, f64)> = (0..450)
            .map(|i| {
                at += block / if (200..343).contains(&i) { 200.0 } else { 400.0 };
                (u64::from(BLOCK), at)
            })
            .collect();
        let found = summarize_stream(true, &ends).unwrap();
        assert!((found.worst_mb_s - 200.0).abs() < 1.0, "{found:?}");
        assert!((found.mb_s - 400.0 * 442.0 / (442.0 + 143.0)).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn stream_shorter_than_the_queue_has_no_summary() {
        assert_eq!(summarize_stream(false, &[(1, 1.0)]), None);
    }
}
