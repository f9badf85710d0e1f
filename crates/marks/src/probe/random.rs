//! Random 4 KiB I/O for the A classes: over the test area of 256 MiB, a smaller span and the whole card, one at a time
//! and with the card's queue. Slices of a quarter of a second until a sequential test separates the rate from the
//! demands (docs/reference/flash.md#marks-by-measuring).

use super::bench::{MarkTester, WriteRun};
use super::options::TEST_AREA;
use super::sequential::worst_unit;
use super::slices::{LEAST, SliceTask, demands, enough, iops, summary};
use cardscope_engine::card::{CardExtent, ProbeStop, extents};
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::judged_mark::{MarksMeasured, RandomRate, TestForm};
use cardscope_model::units::MIB;
use cardscope_probing::context::ProbeContext;

/// Size of a random I/O.
const SMALL: u32 = 4096;
/// Queue depth where the card states none.
const DEPTH: u32 = 32;
/// Slices whose pages are saved at a time, and pages at most.
const SLICES_SAVED: usize = 4;
const SAVED_AT_MOST: usize = 4096;
/// A queue that takes longer than this to be empty again is not filled, in seconds: three slices of it would be all
/// that a close decision may take.
const BEARABLE: f64 = 10.0;

impl MarkTester<'_, '_, '_> {
    /// Times random I/O as the specification does where that was asked for; else over all spans, one at a time and with the card's queue.
    pub(super) fn random_io(&mut self) -> Result<(), ProbeStop> {
        if self.options.form == TestForm::Specification && self.as_specified()? {
            return Ok(());
        }
        let region = self.context.region;
        let len = TEST_AREA.min(region.len / MIB * MIB);
        let area = TargetRegion { start: self.somewhere(len, MIB), len };
        let preconditioned = self.precondition(area)?;
        let task = |write, area: TargetRegion, depth| SliceTask {
            write,
            area,
            depth,
            preconditioned: preconditioned && area.len <= TEST_AREA,
            decides: area.len == len,
            null_s: None,
            lasts: None,
        };
        // From narrow to wide: what random writes leave behind in a card weighs the more, the further apart they were. In a
        // short time the area that decides comes first, and narrower ones not at all.
        let least = if self.options.form == TestForm::Short { TEST_AREA } else { 0 };
        let aside = |span: &&u64| (least..region.len).contains(*span) && **span != TEST_AREA;
        let spans = self.options.spans.iter().filter(aside);
        let mut spans: Vec<TargetRegion> = spans
            .map(|span| around(area, region, *span))
            .chain([area])
            .chain((region.len > TEST_AREA).then_some(region))
            .collect();
        spans.sort_by_key(|span| span.len);
        for span in spans {
            self.run(task(false, span, 1))?;
            self.run(task(true, span, 1))?;
            if span == area {
                self.with_queue(area, &task)?;
            }
        }
        Ok(())
    }

    /// Writes the test area in order, as the specification does before it measures.
    fn precondition(&mut self, area: TargetRegion) -> Result<bool, ProbeStop> {
        if !self.options.thorough() {
            return Ok(false);
        }
        let what = "writing the test area in order before random I/O";
        let speed = self.into.writing.first().map_or(5.0, worst_unit).max(0.1);
        let keeping = if self.context.saves_first() { 2.5 } else { 1.0 };
        let seconds = area.len as f64 / 1e6 / speed * keeping;
        if !self.context.may_write(area.len) || !self.context.has_time(seconds) {
            self.leave_out(format!("{what}: no time or write limit left"));
            return Ok(false);
        }
        self.context.phase("writing the test area of random I/O");
        let block = 4 * MIB as u32;
        self.context.shape(block, 2)?;
        let all: Vec<CardExtent> = extents(area.start, area.start + area.len, block).collect();
        let mut write_run = WriteRun::new(area.start);
        if self.context.prepare_in_time(&all)? {
            write_run.write(self.context, &mut all.into_iter())?;
        }
        let whole = write_run.bytes() == area.len;
        if !whole {
            self.leave_out(format!("{what}: not all was written"));
        }
        Ok(whole)
    }

    /// The same with the card's queue, where the host may use it, and A2 is claimed or within reach.
    fn with_queue(
        &mut self,
        area: TargetRegion,
        task: &impl Fn(bool, TargetRegion, u32) -> SliceTask,
    ) -> Result<(), ProbeStop> {
        let Some(depth) = self.queue_depth() else { return Ok(()) };
        for write in [false, true] {
            let alone = self
                .into
                .random
                .iter()
                .find(|r| r.write == write && r.depth == 1 && r.span_bytes == area.len);
            // The shallowest queue has two in flight, and neither can be taken back.
            if alone.is_some_and(|alone| self.context.has_time(2.0 / alone.iops)) {
                self.run(task(write, area, depth))?;
            } else {
                let what = words(write);
                self.leave_out(format!("random {what} with the card's queue: no time or write limit left"));
            }
        }
        Ok(())
    }

    /// The depth of the card's queue, where the host may use it and it is worth the time.
    pub(super) fn queue_depth(&self) -> Option<u32> {
        let bus = &self.options.bus;
        let worth = bus.queue != Some(false) && worth_a_queue(self.into);
        worth.then(|| bus.queue_depth.unwrap_or(DEPTH).clamp(2, 64))
    }

    /// Measures a rate; what could not be measured is left out.
    pub(super) fn run(&mut self, mut task: SliceTask) -> Result<(), ProbeStop> {
        let (what, over, depth) = (words(task.write), task.area.len / MIB, task.depth);
        let left_out = format!("random {what} over {over} MiB at queue depth {depth}");
        if !self.context.has_time(task.lasts.unwrap_or(LEAST)) {
            self.leave_out(format!("{left_out}: no time left"));
            return Ok(());
        }
        self.context.phase(&format!("random 4 KiB {what} over {over} MiB, queue depth {depth}"));
        match self.rate(&mut task)? {
            Some(rate) => self.into.random.push(rate),
            None => self.leave_out(format!("{left_out}: the limits ended the test too early")),
        }
        Ok(())
    }

    /// Rates per slice, until the demands are decided or the limits are reached.
    fn rate(&mut self, task: &mut SliceTask) -> Result<Option<RandomRate>, ProbeStop> {
        let mut pool = PagePool { pages: Vec::new() };
        let wanted = task.depth;
        task.depth = bearable(self.context, *task, &mut pool)?;
        if task.depth < wanted {
            self.leave_out(format!(
                "random {} with {wanted} in flight: too slow with {} already",
                words(task.write),
                task.depth
            ));
        }
        task.null_s = self.into.null_command_s.filter(|_| task.depth == 1);
        let context = &mut *self.context;
        context.shape(SMALL, task.depth)?;
        let mut slices: Vec<(u64, f64)> = Vec::new();
        let mut seconds = 0.0;
        while !enough(&slices, seconds, *task)
            && context.has_time(task.slice().max(drain(&slices, task.depth)))
        {
            let Some(slice) = slice(context, *task, iops(&slices), &mut pool)? else { break };
            slices.push(slice);
            seconds += slice.1;
        }
        Ok(summary(&slices, seconds, *task))
    }
}

/// `span` bytes that hold the area, or lie in it.
fn around(area: TargetRegion, all: TargetRegion, span: u64) -> TargetRegion {
    let last = all.start + all.len - span;
    TargetRegion { start: area.start.min(last), len: span }
}

/// The queue is tried where an A class is claimed, since other tools test with one, or A1's rates are reached without it.
pub(super) fn worth_a_queue(found: &MarksMeasured) -> bool {
    let claimed = found.claims.iter().any(|c| c.mark.letter() == 'A');
    let reached = |r: &RandomRate| demands(r.write).iter().any(|demand| r.iops >= *demand);
    claimed || found.random.iter().filter(|r| r.depth == 1 && decides(found, r)).all(reached)
}

/// The span that decides is the test area, or all there is where that is less.
pub(super) fn decides(found: &MarksMeasured, rate: &RandomRate) -> bool {
    let largest = found.random.iter().map(|r| r.span_bytes).filter(|s| *s <= TEST_AREA).max();
    largest == Some(rate.span_bytes)
}

fn words(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

/// The deepest queue, of those up to the one that is wanted, that is empty again in bearable time: what is in flight
/// cannot be taken back, and 32 writes on a fake queue take a minute (docs/reference/flash.md#queues).
fn bearable(
    context: &mut ProbeContext<'_, '_>,
    task: SliceTask,
    pool: &mut PagePool,
) -> Result<u32, ProbeStop> {
    let mut depth = task.depth.min(2);
    while depth < task.depth {
        let next = (depth * 2).min(task.depth);
        context.shape(SMALL, depth)?;
        let Some(tried) = slice(context, SliceTask { depth, lasts: None, ..task }, 0.0, pool)? else { break };
        let empty = drain(&[tried], next);
        if empty > BEARABLE || !context.has_time(2.0 * empty) {
            break;
        }
        depth = next;
    }
    Ok(depth)
}

/// Seconds until a queue of this depth is empty, at the rate seen so far.
fn drain(slices: &[(u64, f64)], depth: u32) -> f64 {
    let rate = iops(slices);
    if rate > 0.0 { f64::from(depth) / rate } else { 0.0 }
}

/// How many I/Os ended, and in how many seconds, while new ones were begun for the time of a slice; `None` where none
/// did, or no more may be written.
fn slice(
    context: &mut ProbeContext<'_, '_>,
    task: SliceTask,
    rate: f64,
    pool: &mut PagePool,
) -> Result<Option<(u64, f64)>, ProbeStop> {
    let count = (rate * task.slice() * 1.5) as usize;
    if !pool.fill(context, task, count.max(task.depth as usize * 2))? {
        return Ok(None);
    }
    let direction = if task.write { IoDirection::Write } else { IoDirection::Read };
    let (mut ended, mut last) = (0, 0.0);
    context.stream_for(direction, task.slice(), &mut std::iter::from_fn(|| pool.pages.pop()), |_, at| {
        ended += 1;
        last = at;
    })?;
    Ok((ended > 0 && last > 0.0).then_some((ended, last)))
}

/// Pages in random order, saved in batches of some slices, so that the journal is synced seldom; no more of them than
/// a slow card gets through, since all that is saved is read first and put back later.
struct PagePool {
    pages: Vec<CardExtent>,
}

impl PagePool {
    /// Has at least `count` pages ready; false where no more may be written, or the time ends before they are saved.
    fn fill(
        &mut self,
        context: &mut ProbeContext<'_, '_>,
        task: SliceTask,
        count: usize,
    ) -> Result<bool, ProbeStop> {
        if self.pages.len() >= count {
            return Ok(true);
        }
        let more = if task.write { (count * SLICES_SAVED).min(SAVED_AT_MOST).max(count) } else { count };
        if task.write && !context.may_write(more as u64 * u64::from(SMALL)) {
            return Ok(false);
        }
        let new: Vec<CardExtent> = (0..more).map(|_| page(context, task.area)).collect();
        if task.write && !context.prepare_in_time(&new)? {
            return Ok(false);
        }
        self.pages.extend(new);
        Ok(true)
    }
}

fn page(context: &mut ProbeContext<'_, '_>, area: TargetRegion) -> CardExtent {
    let page = context.random.below(area.len / u64::from(SMALL));
    CardExtent { offset: area.start + page * u64::from(SMALL), len: SMALL }
}
