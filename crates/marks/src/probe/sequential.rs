//! Sequential writes in recording units inside allocation units. A class is the speed of the worst unit, so results are
//! kept by unit (Physical Layer Specification 4.13.1 to 4.13.4).
//!
//! A slow unit is written again, to separate slow units of the card from slow times of the host.

use super::options::MarkOptions;
use super::tester::{CapacityFamily, DEPTH, MarkAreas, MarkTester, WriteRun};
use cardscope_engine::io_driver::{CardExtent, ProbeStop, split_extents};
use cardscope_model::mark_result::{MarksMeasured, SequentialWrite, SmallWrites, UnitSpeed};
use cardscope_model::statistics::median;
use cardscope_model::units::{KIB, MIB, mb_per_s};
use cardscope_probing::context::ProbeContext;
use std::time::Duration;

/// Recording unit of C10, U and V classes.
pub(super) const LARGE: u32 = 512 * KIB as u32;
/// Large units are judged by their worst part of this size.
const PART: u64 = 4 * MIB;
/// Allocation units written by default, and most bytes of them if data is preserved.
const UNITS: u64 = 4;
const MOST_KEPT: u64 = 128 * MIB;
/// Allocation units written, and least bytes of them, if content may be lost; A classes demand 1 GiB.
const UNITS_THOROUGH: u64 = 16;
const LEAST_THOROUGH: u64 = 1024 * MIB;
/// Share of the median speed below which a unit is written again.
const SLOW_SHARE: f64 = 0.8;
/// Rounds of small writes in an average.
const ROUNDS: u32 = 8;
/// Pause in which the card can clean up.
const CLEANUP_PAUSE: Duration = Duration::from_secs(1);
/// Factor of the time if data is preserved: restoring takes as long as writing, saving as long as reading.
const PRESERVE_FACTOR: f64 = 2.5;

impl MarkTester<'_, '_, '_> {
    /// Measures with the recording unit of every claimed class.
    pub(super) fn write_in_order(&mut self) -> Result<(), ProbeStop> {
        self.context.begin_phase("writing allocation units in order");
        // The card may still clean up earlier writes, which must not count.
        if self.context.has_time(CLEANUP_PAUSE.as_secs_f64()) {
            self.context.rest(CLEANUP_PAUSE);
        }
        let total = bytes_to_write(self.options, self.cut, self.context.saves_first());
        let mut small = SmallWritePattern::new(self);
        let found = self.write_pass(LARGE, total, Some(&mut small))?;
        self.into.writing.extend(found);
        self.into.small_writes = small.summarize_rounds();
        for io in small_recording_units(self.options, self.family, self.into) {
            let found = self.write_pass(io, total.min(4 * self.cut.range), None)?;
            self.into.writing.extend(found);
        }
        Ok(())
    }

    /// Writes ranges with I/Os of `io` bytes until `total` or a limit is reached.
    fn write_pass(
        &mut self,
        io: u32,
        total: u64,
        mut small: Option<&mut SmallWritePattern>,
    ) -> Result<Option<SequentialWrite>, ProbeStop> {
        let cut = self.cut;
        let mut found = SequentialWrite {
            io_bytes: u64::from(io),
            au_bytes: cut.unit,
            speed_unit_bytes: cut.speed_unit,
            ..SequentialWrite::default()
        };
        let (mut seconds, mut last) = (0.0, 0.0);
        let began = self.context.seconds();
        while found.bytes < total {
            let takes = last * if self.context.saves_first() { PRESERVE_FACTOR } else { 1.0 };
            let range_began = self.context.seconds();
            let run = match self.context.may_write(2 * cut.range) && self.context.has_time(takes) {
                true => {
                    let start = self.random_unit(cut.range);
                    self.write_range(start, cut.range, io, small.as_deref_mut())?
                }
                false => None,
            };
            let Some(run) = run else {
                self.report_skipped(unwritten_rest(io, found.bytes, total));
                break;
            };
            let took = add_run(&mut found, &run, cut);
            seconds += took;
            if took == 0.0 {
                let what = match self.context.has_time(0.0) {
                    true => "an allocation unit could not be written or saved".to_owned(),
                    false => unwritten_rest(io, found.bytes, total),
                };
                self.report_skipped(what);
                break;
            }
            if let Some(small) = &mut small {
                small.run_rounds(self.context, ROUNDS.div_ceil((total / cut.range).max(1) as u32))?;
            }
            last = self.context.seconds() - range_began;
            self.into.cost.seconds = self.context.seconds() - began;
        }
        if found.units.is_empty() {
            return Ok(None);
        }
        self.rewrite_slow_units(io, &mut found)?;
        found.mb_s = mb_per_s(found.bytes, seconds);
        Ok(Some(found))
    }

    /// Writes one range. Small writes at the start of the card go in between, every 4 MiB. `None` if the time ends
    /// before the range is saved.
    fn write_range(
        &mut self,
        start: u64,
        len: u64,
        io: u32,
        small: Option<&mut SmallWritePattern>,
    ) -> Result<Option<WriteRun>, ProbeStop> {
        let context = &mut *self.context;
        context.set_queue(LARGE.max(io), DEPTH)?;
        if !context.try_save_before_write(&split_extents(start, start + len, LARGE).collect::<Vec<_>>())? {
            return Ok(None);
        }
        context.set_queue(io, DEPTH)?;
        let mut run = WriteRun::new(start);
        let mut between = small.filter(|small| small.at_start);
        let step = if between.is_some() { PART } else { len };
        let step = u32::try_from(step).unwrap_or(1 << 30);
        for part in split_extents(start, start + len, step) {
            if !run.write(context, &mut split_extents(part.offset, part.end(), io))? {
                break;
            }
            if let Some(small) = &mut between {
                small.run_rounds(context, 1)?;
                context.set_queue(io, DEPTH)?;
            }
        }
        Ok(Some(run.without_startup()))
    }

    /// Writes slow units again, up to two times, and uses the median. If several units recover, the card stalls now
    /// and then, and the slow figures count.
    fn rewrite_slow_units(&mut self, io: u32, found: &mut SequentialWrite) -> Result<(), ProbeStop> {
        let cut = self.cut;
        let speeds: Vec<f64> = found.units.iter().map(|u| u.worst_4mib_mb_s).collect();
        let least = SLOW_SHARE * median(&speeds).unwrap_or(0.0);
        let slow = (0..speeds.len()).filter(|i| speeds[*i] < least);
        let twice = 2.0 * cut.unit as f64 / 1e6 / slowest_unit(found);
        let mut better = Vec::new();
        for index in slow.take(4) {
            if !self.context.may_write(2 * cut.unit) || !self.context.has_time(twice) {
                break;
            }
            let first = found.units[index];
            let mut tries = vec![first];
            for _ in 0..2 {
                // A range cut off by the time has no unit, and so has its second attempt.
                let run = self.write_range(first.offset, cut.unit, io, None)?;
                tries.extend(run.iter().flat_map(|run| unit_speeds(run, cut)));
            }
            tries.sort_by(|a, b| a.worst_4mib_mb_s.total_cmp(&b.worst_4mib_mb_s));
            let middle = tries[tries.len() / 2];
            if middle.worst_4mib_mb_s >= least {
                better.push((index, middle));
            }
        }
        found.slow_once = better.len() as u32;
        if let [(index, middle)] = better[..] {
            found.units[index] = middle;
            replace_slowest(found, speeds[index], middle.worst_4mib_mb_s);
        }
        Ok(())
    }
}

fn bytes_to_write(options: &MarkOptions, cut: MarkAreas, keeps: bool) -> u64 {
    let whole = |bytes: u64| bytes.div_ceil(cut.range).max(1) * cut.range;
    if options.is_thorough() {
        return whole((UNITS_THOROUGH * cut.unit).max(LEAST_THOROUGH));
    }
    let wanted = (UNITS * cut.unit).max(2 * cut.range);
    if keeps { whole(wanted.min(MOST_KEPT)) } else { whole(wanted) }
}

/// Recording units of the lower C classes, if one is claimed or C10 is out of reach.
fn small_recording_units(options: &MarkOptions, family: CapacityFamily, into: &MarksMeasured) -> Vec<u32> {
    let claimed = options.claimed.iter().map(|c| c.mark).filter(|m| m.letter() == 'C');
    let lowest = claimed.map(|mark| f64::from(mark.number())).fold(f64::INFINITY, f64::min);
    let reached = into.writing.first().map_or(f64::INFINITY, slowest_unit);
    let (c4, c6) = recording_units(family);
    match lowest.min(reached) {
        low if low < 6.0 && c4 != c6 => vec![c6, c4],
        low if low < 10.0 => vec![c6],
        _ => Vec::new(),
    }
}

/// Recording units of C2 and C4, and of C6 (docs/reference/sd.md#speed-classes).
pub(super) fn recording_units(family: CapacityFamily) -> (u32, u32) {
    let kib = KIB as u32;
    match family {
        CapacityFamily::Standard => (16 * kib, 64 * kib),
        CapacityFamily::High => (32 * kib, 64 * kib),
        CapacityFamily::Extended => (256 * kib, 256 * kib),
    }
}

/// Speed of the slowest unit, or of its worst 4 MiB if it is larger.
pub(super) fn slowest_unit(found: &SequentialWrite) -> f64 {
    found.units.iter().map(|unit| unit.worst_4mib_mb_s).fold(f64::INFINITY, f64::min)
}

/// Description of a rest that was not written.
fn unwritten_rest(io: u32, done: u64, total: u64) -> String {
    let (rest, all, kib) = ((total - done) / MIB, total / MIB, u64::from(io) / KIB);
    format!("{rest} of {all} MiB of sequential writing with {kib} KiB: no time or write limit left")
}

/// Speeds of consecutive complete windows, with their first byte.
fn window_speeds(run: &WriteRun, window: u64) -> Vec<(u64, f64)> {
    let mut speeds: Vec<(u64, f64)> = Vec::new();
    let (mut number, mut bytes, mut began, mut last) = (0, 0, 0.0, 0.0);
    let mut ends: Vec<&(CardExtent, f64)> = run.ends.iter().collect();
    ends.sort_by_key(|(extent, _)| extent.offset);
    for (extent, end) in ends {
        let belongs = (extent.offset - run.start) / window;
        if belongs != number {
            (number, bytes, began) = (belongs, 0, last);
        }
        bytes += u64::from(extent.len);
        last = end.max(last);
        if bytes == window && last > began {
            speeds.push((run.start + number * window, mb_per_s(bytes, last - began)));
        }
    }
    speeds
}

/// Adds a range to the figures and returns its seconds.
fn add_run(found: &mut SequentialWrite, run: &WriteRun, cut: MarkAreas) -> f64 {
    found.units.extend(unit_speeds(run, cut));
    let speeds = window_speeds(run, cut.speed_unit);
    found.speed_units_mb_s.extend(speeds.into_iter().map(|(_, speed)| speed));
    found.bytes += run.bytes();
    found.longest_s = run.end_intervals().fold(found.longest_s, f64::max);
    run.seconds()
}

fn unit_speeds(run: &WriteRun, cut: MarkAreas) -> Vec<UnitSpeed> {
    let parts = window_speeds(run, PART.min(cut.unit));
    let unit = |(offset, mb_s)| {
        let inside = parts.iter().filter(|(at, _)| (offset..offset + cut.unit).contains(at));
        // Units such as 6 MiB are no multiple of 4 MiB, so the whole unit counts, too.
        let worst_4mib_mb_s = inside.map(|(_, speed)| *speed).fold(mb_s, f64::min);
        UnitSpeed { offset, mb_s, worst_4mib_mb_s }
    };
    window_speeds(run, cut.unit).into_iter().map(unit).collect()
}

/// Gives the slowest speed unit the speed that its allocation unit reached when written again.
fn replace_slowest(found: &mut SequentialWrite, from: f64, to: f64) {
    let worst = found.speed_units_mb_s.iter_mut().min_by(|a, b| a.total_cmp(b));
    if let Some(worst) = worst.filter(|worst| **worst < to && from < to) {
        *worst = to;
    }
}

/// Small writes as a file system makes them.
struct SmallWritePattern {
    places: [CardExtent; 3],
    at_start: bool,
    ready: bool,
    times: Vec<f64>,
}

impl SmallWritePattern {
    /// At the start of the card if that is allowed, otherwise in a unit of their own, where a card may be slower.
    fn new(bench: &mut MarkTester<'_, '_, '_>) -> SmallWritePattern {
        let (options, unit) = (bench.options, bench.cut.unit);
        let at_start = options.is_thorough() && options.card_addresses && bench.context.region.start == 0;
        let base = if at_start { 0 } else { bench.random_unit(unit) };
        let (quarter, sector) = (unit / 4, bench.context.sector().max(512));
        let extent = |n: u64, len: u32| CardExtent { offset: base + n * quarter / 16384 * 16384, len };
        let places = [extent(0, 16384), extent(1, 16384), extent(2, sector)];
        SmallWritePattern { places, at_start, ready: false, times: Vec::new() }
    }

    fn run_rounds(&mut self, context: &mut ProbeContext<'_, '_>, count: u32) -> Result<(), ProbeStop> {
        context.set_queue(16384, 1)?;
        if !self.ready {
            self.ready = context.try_save_before_write(&self.places)?;
        }
        for _ in 0..count {
            if !self.ready || !context.has_time(self.times.last().copied().unwrap_or(0.0)) {
                return Ok(());
            }
            let Some(round) = self.run_round(context)? else { return Ok(()) };
            self.times.push(round);
        }
        Ok(())
    }

    /// Seconds of a round; `None` if a write failed or the time ended.
    fn run_round(&self, context: &mut ProbeContext<'_, '_>) -> Result<Option<f64>, ProbeStop> {
        let (mut round, mut last) = (0.0, 0.0);
        for place in self.places {
            let time = if context.has_time(last) { context.time_write(place)? } else { None };
            let Some(time) = time else { return Ok(None) };
            (round, last) = (round + time, time);
        }
        Ok(Some(round))
    }

    fn summarize_rounds(&self) -> Option<SmallWrites> {
        let over = self.times.len().min(ROUNDS as usize);
        let averages = self.times.windows(over.max(1)).map(|w| w.iter().sum::<f64>() / w.len() as f64);
        (over > 0).then(|| SmallWrites {
            rounds: self.times.len() as u32,
            worst_average_s: averages.fold(0.0, f64::max),
            longest_s: self.times.iter().copied().fold(0.0, f64::max),
            at_start: self.at_start,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: &[f64]) -> WriteRun {
        let mut at = 0.0;
        let ends = times.iter().enumerate().map(|(i, time)| {
            at += time;
            (CardExtent { offset: 8 * MIB + i as u64 * u64::from(LARGE), len: LARGE }, at)
        });
        WriteRun { start: 8 * MIB, ends: ends.collect() }
    }

    #[test]
    fn worst_4_mib_of_a_unit_counts() {
        // Sixteen writes of 512 KiB: eight at 20 MB/s, eight at 8 MB/s.
        let fast = f64::from(LARGE) / 20e6;
        let slow = f64::from(LARGE) / 8e6;
        let run = run(&[[fast; 8], [slow; 8]].concat());
        let cut = MarkAreas { unit: 8 * MIB, speed_unit: 8 * MIB, range: 8 * MIB, origin: 0 };
        let found = unit_speeds(&run, cut);
        assert_eq!(found.len(), 1);
        assert!((found[0].worst_4mib_mb_s - 8.0).abs() < 1e-6, "{found:?}");
        // 8 MiB in 8·512 KiB/20 + 8·512 KiB/8: the harmonic mean.
        assert!((found[0].mb_s - 2.0 / (1.0 / 20.0 + 1.0 / 8.0)).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn first_write_is_excused_up_to_a_second() {
        let usual = f64::from(LARGE) / 10e6;
        let mut times = [usual; 8];
        times[0] += 0.7;
        let cut = MarkAreas { unit: 4 * MIB, speed_unit: 8 * MIB, range: 8 * MIB, origin: 0 };
        let of = |times: &[f64]| unit_speeds(&run(times).without_startup(), cut)[0].mb_s;
        assert!((of(&times) - 10.0).abs() < 1e-6);
        // Of a stall of two seconds only one is excused; a stall in the middle counts completely.
        times[0] += 1.3;
        assert!(of(&times) < 3.0);
        let mut middle = [usual; 8];
        middle[4] += 0.7;
        assert!(of(&middle) < 4.0);
    }

    #[test]
    fn recording_units_match_the_specification() {
        assert_eq!(recording_units(CapacityFamily::Standard), (16 << 10, 64 << 10));
        assert_eq!(recording_units(CapacityFamily::High), (32 << 10, 64 << 10));
        assert_eq!(recording_units(CapacityFamily::Extended), (256 << 10, 256 << 10));
    }
}
