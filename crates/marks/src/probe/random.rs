//! Random 4 KiB I/O for the A classes: over the test area of 256 MiB, a smaller range and the whole card, single and
//! with the card's queue. Slices of a quarter of a second repeat until a sequential test separates the rate from the
//! demands (docs/reference/flash.md#marks-by-measuring).

use super::options::TEST_AREA;
use super::sequential::slowest_unit;
use super::stopping_rule::{LEAST_SECONDS, SliceTask, demanded_iops, iops_of, is_enough, summarize_slices};
use super::tester::{MarkTester, WriteRun};
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_engine::target::{IoDirection, TargetRegion};
use cardscope_model::mark_result::{MarksMeasured, RandomRate, TestForm};
use cardscope_model::units::MIB;
use cardscope_probing::context::ProbeContext;

const SMALL: u32 = 4096;
/// Queue depth if the card states none.
const DEPTH: u32 = 32;
/// Slices whose pages are saved at a time, and most pages of them.
const SLICES_SAVED: usize = 4;
const SAVED_AT_MOST: usize = 4096;
/// Longest time in seconds for a queue to drain. A close decision may take three slices of that.
const MAX_DRAIN_SECONDS: f64 = 10.0;

impl MarkTester<'_, '_, '_> {
    /// Measures random I/O, in the conditions of the specification if requested, otherwise over all ranges.
    pub(super) fn random_io(&mut self) -> Result<(), ProbeStop> {
        if self.options.form == TestForm::Specification && self.measure_as_specified()? {
            return Ok(());
        }
        let region = self.context.region;
        let len = TEST_AREA.min(region.len / MIB * MIB);
        let area = TargetRegion { start: self.random_offset(len, MIB), len };
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
        // From narrow to wide, because random writes disturb a card more the further apart they are. A short test
        // measures the deciding area first and leaves out narrower ones.
        let least = if self.options.form == TestForm::Short { TEST_AREA } else { 0 };
        let aside = |span: &&u64| (least..region.len).contains(*span) && **span != TEST_AREA;
        // A range contains the area, or lies in it.
        let around = |len: u64| TargetRegion { start: area.start.min(region.end() - len), len };
        let spans = self.options.spans.iter().filter(aside).map(|span| around(*span));
        let whole = (region.len > TEST_AREA).then_some(region);
        let mut spans: Vec<TargetRegion> = spans.chain([area]).chain(whole).collect();
        spans.sort_by_key(|span| span.len);
        for span in spans {
            self.measure(task(false, span, 1))?;
            self.measure(task(true, span, 1))?;
            if span == area {
                self.measure_with_queue(area, &task)?;
            }
        }
        Ok(())
    }

    /// Writes the test area sequentially, as the specification does before it measures.
    fn precondition(&mut self, area: TargetRegion) -> Result<bool, ProbeStop> {
        if !self.options.is_thorough() {
            return Ok(false);
        }
        let what = "writing the test area in order before random I/O";
        let speed = self.into.writing.first().map_or(5.0, slowest_unit).max(0.1);
        let keeping = if self.context.saves_first() { 2.5 } else { 1.0 };
        let seconds = area.len as f64 / 1e6 / speed * keeping;
        if !self.context.may_write(area.len) || !self.context.has_time(seconds) {
            self.report_skipped(format!("{what}: no time or write limit left"));
            return Ok(false);
        }
        self.context.begin_phase("writing the test area of random I/O");
        let block = 4 * MIB as u32;
        self.context.set_queue(block, 2)?;
        let all: Vec<CardExtent> = split_extents(area.start, area.start + area.len, block).collect();
        let mut write_run = WriteRun::new(area.start);
        if self.context.try_save_before_write(&all)? {
            write_run.write(self.context, &mut all.into_iter())?;
        }
        let whole = write_run.bytes() == area.len;
        if !whole {
            self.report_skipped(format!("{what}: not all was written"));
        }
        Ok(whole)
    }

    /// Measures with the card's queue, if the host may use it and A2 is claimed or within reach.
    fn measure_with_queue(
        &mut self,
        area: TargetRegion,
        task: &impl Fn(bool, TargetRegion, u32) -> SliceTask,
    ) -> Result<(), ProbeStop> {
        let Some(depth) = self.queue_depth() else { return Ok(()) };
        for write in [false, true] {
            let single = |r: &&RandomRate| r.write == write && r.depth == 1 && r.span_bytes == area.len;
            let alone = self.into.random.iter().find(single);
            // Even the shallowest queue has two I/Os in flight, which cannot be cancelled.
            if alone.is_some_and(|alone| self.context.has_time(2.0 / alone.iops)) {
                self.measure(task(write, area, depth))?;
            } else {
                let (what, why) = (direction_word(write), "no time or write limit left");
                self.report_skipped(format!("random {what} with the card's queue: {why}"));
            }
        }
        Ok(())
    }

    /// Depth of the card's queue, if testing it is possible and worth the time.
    pub(super) fn queue_depth(&self) -> Option<u32> {
        let bus = &self.options.bus;
        let worth = bus.queue != Some(false) && worth_a_queue(self.into);
        worth.then(|| bus.queue_depth.unwrap_or(DEPTH).clamp(2, 64))
    }

    /// Measures one rate, or reports why it was left out.
    pub(super) fn measure(&mut self, mut task: SliceTask) -> Result<(), ProbeStop> {
        let (what, over, depth) = (direction_word(task.write), task.area.len / MIB, task.depth);
        let left_out = format!("random {what} over {over} MiB at queue depth {depth}");
        if !self.context.has_time(task.lasts.unwrap_or(LEAST_SECONDS)) {
            self.report_skipped(format!("{left_out}: no time left"));
            return Ok(());
        }
        self.context.begin_phase(&format!("random 4 KiB {what} over {over} MiB, queue depth {depth}"));
        match self.measure_rate(&mut task)? {
            Some(rate) => self.into.random.push(rate),
            None => self.report_skipped(format!("{left_out}: the limits ended the test too early")),
        }
        Ok(())
    }

    /// Measures slices until the demands are decided or the limits are reached.
    fn measure_rate(&mut self, task: &mut SliceTask) -> Result<Option<RandomRate>, ProbeStop> {
        let mut pool = PagePool(Vec::new());
        let wanted = task.depth;
        task.depth = bearable_depth(self.context, *task, &mut pool)?;
        if task.depth < wanted {
            let (what, depth) = (direction_word(task.write), task.depth);
            let why = format!("too slow with {depth} already");
            self.report_skipped(format!("random {what} with {wanted} in flight: {why}"));
        }
        task.null_s = self.into.null_command_s.filter(|_| task.depth == 1);
        let context = &mut *self.context;
        context.set_queue(SMALL, task.depth)?;
        let mut slices: Vec<(u64, f64)> = Vec::new();
        let mut seconds = 0.0;
        while !is_enough(&slices, seconds, *task)
            && context.has_time(task.slice_seconds().max(drain_seconds(&slices, task.depth)))
        {
            let Some(slice) = run_slice(context, *task, iops_of(&slices), &mut pool)? else { break };
            slices.push(slice);
            seconds += slice.1;
        }
        Ok(summarize_slices(&slices, seconds, *task))
    }
}

/// True if an A class is claimed, because other tools test with a queue, or if A1 is reached without one.
pub(super) fn worth_a_queue(found: &MarksMeasured) -> bool {
    let claimed = found.claims.iter().any(|c| c.mark.letter() == 'A');
    let reached = |r: &RandomRate| demanded_iops(r.write).iter().any(|demand| r.iops >= *demand);
    claimed || found.random.iter().filter(|r| r.depth == 1 && is_deciding(found, r)).all(reached)
}

/// True for rates over the deciding range: the test area, or everything if that is less.
pub(super) fn is_deciding(found: &MarksMeasured, rate: &RandomRate) -> bool {
    let largest = found.random.iter().map(|r| r.span_bytes).filter(|s| *s <= TEST_AREA).max();
    largest == Some(rate.span_bytes)
}

fn direction_word(write: bool) -> &'static str {
    if write { "writes" } else { "reads" }
}

/// Deepest queue up to the requested depth that drains in reasonable time. I/Os in flight cannot be cancelled, and 32
/// writes on a fake queue take a minute (docs/reference/flash.md#queues).
fn bearable_depth(
    context: &mut ProbeContext<'_, '_>,
    task: SliceTask,
    pool: &mut PagePool,
) -> Result<u32, ProbeStop> {
    let mut depth = task.depth.min(2);
    while depth < task.depth {
        let next = (depth * 2).min(task.depth);
        context.set_queue(SMALL, depth)?;
        let Some(tried) = run_slice(context, SliceTask { depth, lasts: None, ..task }, 0.0, pool)? else {
            break;
        };
        let empty = drain_seconds(&[tried], next);
        if empty > MAX_DRAIN_SECONDS || !context.has_time(2.0 * empty) {
            break;
        }
        depth = next;
    }
    Ok(depth)
}

/// Seconds until a queue of this depth drains, at the rate so far.
fn drain_seconds(slices: &[(u64, f64)], depth: u32) -> f64 {
    let rate = iops_of(slices);
    if rate > 0.0 { f64::from(depth) / rate } else { 0.0 }
}

/// Runs one slice and returns the number of I/Os and their seconds; `None` if none ended or no more may be written.
fn run_slice(
    context: &mut ProbeContext<'_, '_>,
    task: SliceTask,
    rate: f64,
    pool: &mut PagePool,
) -> Result<Option<(u64, f64)>, ProbeStop> {
    let count = (rate * task.slice_seconds() * 1.5) as usize;
    if !pool.prepare(context, task, count.max(task.depth as usize * 2))? {
        return Ok(None);
    }
    let direction = if task.write { IoDirection::Write } else { IoDirection::Read };
    let (mut ended, mut last) = (0, 0.0);
    let mut pages = std::iter::from_fn(|| pool.0.pop());
    context
        .stream_for(direction, task.slice_seconds(), &mut pages, |_, at| (ended, last) = (ended + 1, at))?;
    Ok((ended > 0 && last > 0.0).then_some((ended, last)))
}

/// Pages in random order, saved a few slices at a time, so that the journal is synced seldom. Not more than a slow card
/// can write, because everything saved must be read first and restored later.
struct PagePool(Vec<CardExtent>);

impl PagePool {
    /// Prepares at least `count` pages; returns false if the limit of writes or time does not allow it.
    fn prepare(
        &mut self,
        context: &mut ProbeContext<'_, '_>,
        task: SliceTask,
        count: usize,
    ) -> Result<bool, ProbeStop> {
        if self.0.len() >= count {
            return Ok(true);
        }
        let more = if task.write { (count * SLICES_SAVED).min(SAVED_AT_MOST).max(count) } else { count };
        if task.write && !context.may_write(more as u64 * u64::from(SMALL)) {
            return Ok(false);
        }
        let new: Vec<CardExtent> = (0..more).map(|_| random_page(context, task.area)).collect();
        if task.write && !context.try_save_before_write(&new)? {
            return Ok(false);
        }
        self.0.extend(new);
        Ok(true)
    }
}

fn random_page(context: &mut ProbeContext<'_, '_>, area: TargetRegion) -> CardExtent {
    let page = context.random.below(area.len / u64::from(SMALL));
    CardExtent { offset: area.start + page * u64::from(SMALL), len: SMALL }
}
