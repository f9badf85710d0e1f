//! Causes of slow levels: each step of the speed is compared with what else changed at that time.

use super::change_points::{MIN_LOG_STEP, MIN_READ_SLICES, SpeedRange, find_speed_levels, level_of_slices};
use super::stalls::{self, LoadBursts, SeriesStalls};
use super::{SeriesFacts, SeriesSlice};
use cardscope_model::sustain::ThermalStep;

/// Reads slower than at the fast level by this factor are heat (docs/reference/flash.md#causes-of-a-slow-spell).
const HOT_READ_RATIO: f64 = 1.18;

/// The same if the card's own throttling counters moved.
const COUNTED_READ_RATIO: f64 = 1.05;

/// Share of the fast level's speed above which a level is not slowed by heat.
const MAX_HOT_SPEED: f64 = 0.95;

/// A step below this share is the end of a cache, where heat did not change
/// (docs/reference/flash.md#causes-of-a-slow-spell).
const MAX_FULL_SPEED: f64 = 0.82;

/// Needed change of writes if heat did change: heat slows writes by the factor of the reads to a power from half to one and a half
/// (0.67 to 0.83 beside 0.60 to 0.75: docs/reference/flash.md#heat).
const HEAT_EXPONENT: f64 = 0.5;

/// Reads that change by less, in the logarithm, tell of no change in heat: a full cache may change the mode in which
/// data is read (up to 15 %: docs/reference/flash.md#causes-of-a-slow-spell).
const SAME_HEAT_LOG: f64 = 0.15;

/// Distance below TMT1 at which a card that counts its throttling, and counted none, is cool.
const COOL_K: f64 = 5.0;

/// Share of time in stalls above which they are the normal speed of the card rather than interruptions.
const MAX_STALL_SHARE: f64 = 0.5;

/// Longest dip in seconds that is not a level.
const MAX_DIP_S: f64 = 8.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SlowdownCause {
    /// The write cache is full.
    CacheEnd,
    /// The card throttles from heat.
    Throttling,
    /// Internal housekeeping of the card.
    Stalls,
    /// Other load on bus or host.
    Interference,
}

/// Step of the speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedStep {
    /// First slice after the step.
    pub slice: usize,
    /// Time in seconds.
    pub at_s: f64,
    /// Bytes moved before the step.
    pub at_bytes: u64,
    /// Speed before, in bytes per second.
    pub before: f64,
    /// Speed after, in bytes per second.
    pub after: f64,
    pub confidence: f64,
}

/// Level that is slowed by heat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HotLevel {
    pub from: usize,
    /// End, exclusive.
    pub to: usize,
    /// Figures as stored in the document.
    pub figures: ThermalStep,
    pub confidence: f64,
}

/// Everything that a series shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeriesCauses {
    pub levels: Vec<SpeedRange>,
    /// Fast and cool level that the others are compared with.
    pub base: Option<usize>,
    pub stalls: SeriesStalls,
    /// Bursts of other load.
    pub interference: Option<LoadBursts>,
    /// Levels slowed by heat, in order.
    pub heat: Vec<HotLevel>,
    pub cache_ends: Vec<SpeedStep>,
    /// Steps up that are not explained by cooling.
    pub recoveries: Vec<SpeedStep>,
    /// Steps down of a workload without writes.
    pub unexplained: Vec<SpeedStep>,
}

impl SeriesCauses {
    /// Causes found, in the order in which the rule excludes them.
    pub fn named_causes(&self) -> Vec<SlowdownCause> {
        [
            (self.stalls.is_notable, SlowdownCause::Stalls),
            (self.interference.is_some(), SlowdownCause::Interference),
            (!self.heat.is_empty(), SlowdownCause::Throttling),
            (!self.cache_ends.is_empty(), SlowdownCause::CacheEnd),
        ]
        .into_iter()
        .filter_map(|(there, cause)| there.then_some(cause))
        .collect()
    }

    /// True if a step may be heat or a full cache, which only a pause can distinguish.
    pub fn is_ambiguous(&self) -> bool {
        self.cache_ends.iter().any(|d| d.confidence < 0.9) || self.heat.iter().any(|h| h.confidence < 0.95)
    }
}

/// Finds the causes in a series.
pub fn find_causes(slices: &[SeriesSlice], known: SeriesFacts) -> SeriesCauses {
    let interference = stalls::find_load_bursts(slices);
    let touched = stalls::disturbed_slices(interference.as_ref(), slices.len());
    let shortest = stalls::shortest_stalls(slices, known.at_once);
    let (stalls, low) = stalls::find_stalls(slices, &touched, &shortest);
    let skip: Vec<bool> = touched.iter().zip(&low).map(|(a, b)| *a || *b).collect();
    let mostly_stalls = stalls.is_notable && stalls.figures.share > MAX_STALL_SHARE;
    let between = if mostly_stalls { slices.to_vec() } else { stalls::without_stalls(slices, &shortest) };
    let levels = find_speed_levels(&between, &skip, known.writes && !mostly_stalls);
    let mut found = SeriesCauses { stalls, interference, levels, ..SeriesCauses::default() };
    found.base = base_level(&found.levels);
    let Some(base) = found.base else { return found };
    let judge = CauseJudge { slices: &between, known, base: reference_level(&found.levels[base..]) };
    found.heat = found.levels.iter().filter_map(|level| judge.hot_level(level)).collect();
    let begins = judge.unexplained_steps(&mut found);
    if mostly_stalls {
        // A fall at the beginning of the stalls is caused by them.
        found.cache_ends.retain(|end| end.at_s - slices[0].at_s >= MAX_DIP_S);
    }
    relate_heat_to_cool_level(&mut found);
    found.levels = align_levels_to_steps(&between, &skip, &found, &begins);
    found.base = base_level(&found.levels);
    found
}

/// Moves each level to the slice of its step and merges neighbours of equal speed. Levels are found in blocks of at least
/// a second, so a block that contains a step would be counted as a level of its own.
fn align_levels_to_steps(
    slices: &[SeriesSlice],
    skip: &[bool],
    found: &SeriesCauses,
    begins: &[(usize, usize)],
) -> Vec<SpeedRange> {
    let measured = |from: usize, to: usize| {
        let places: Vec<usize> = (from..to).filter(|i| !skip[*i] && slices[*i].seconds > 0.0).collect();
        (!places.is_empty()).then(|| level_of_slices(slices, &places))
    };
    let mut ranges: Vec<(usize, usize, bool)> = Vec::new();
    for known in &found.levels {
        let hot = found.heat.iter().any(|heat| heat.from == known.from);
        let step = begins.iter().find(|(from, _)| *from == known.from).map(|(_, slice)| *slice);
        if let Some(slice) = step {
            ranges.retain(|(from, ..)| *from < slice);
            ranges.last_mut().into_iter().for_each(|last| last.1 = slice);
        }
        ranges.push((step.unwrap_or(known.from), known.to, hot));
    }
    let stepped = |from: usize| begins.iter().any(|(_, slice)| *slice == from);
    let mut all: Vec<(SpeedRange, bool)> = Vec::new();
    for (from, to, hot) in ranges {
        let Some(here) = measured(from, to) else { continue };
        let one = |(last, was_hot): &&mut (SpeedRange, bool)| {
            !stepped(from) && *was_hot == hot && (here.speed / last.speed).ln().abs() < MIN_LOG_STEP
        };
        match all.last_mut().filter(one) {
            Some((last, _)) => *last = measured(last.from, to).unwrap_or(here),
            None => all.push((here, hot)),
        }
    }
    all.into_iter().map(|(level, _)| level).collect()
}

/// Relates heat to the cool level before it, which may be that of a full cache, so that heat gets only its own share.
fn relate_heat_to_cool_level(found: &mut SeriesCauses) {
    let hot: Vec<usize> = found.heat.iter().map(|h| h.from).collect();
    for step in &mut found.heat {
        let cool = found.levels.iter().rev().find(|l| l.from < step.from && !hot.contains(&l.from));
        let here = found.levels.iter().find(|l| l.from == step.from);
        if let Some((cool, here)) = cool.zip(here)
            && !found.cache_ends.iter().any(|end| (cool.to..=step.from).contains(&end.slice))
        {
            step.figures.speed_ratio = here.speed / cool.speed;
        }
    }
}

/// First of the fast levels.
fn base_level(levels: &[SpeedRange]) -> Option<usize> {
    let best = levels.iter().map(|l| l.speed).fold(0.0, f64::max);
    levels.iter().position(|l| l.speed >= 0.9 * best)
}

/// Reference level. If it is too short for reliable reads, it takes those of the next level.
fn reference_level(from_base: &[SpeedRange]) -> SpeedRange {
    let mut base = from_base[0].clone();
    if base.to - base.from < MIN_READ_SLICES
        && let Some(next) = from_base.get(1)
    {
        (base.probe_s, base.long_read_s) = (next.probe_s, next.long_read_s);
    }
    base
}

struct CauseJudge<'a> {
    slices: &'a [SeriesSlice],
    known: SeriesFacts,
    base: SpeedRange,
}

impl CauseJudge<'_> {
    /// Ratio of read times to the reference level, of small or long reads, whichever is larger.
    fn read_ratio(&self, level: &SpeedRange) -> Option<f64> {
        let ratio = |of: fn(&SpeedRange) -> Option<f64>| Some(of(level)? / of(&self.base)?);
        [ratio(|l| l.probe_s), ratio(|l| l.long_read_s)].into_iter().flatten().reduce(f64::max)
    }

    fn hot_level(&self, level: &SpeedRange) -> Option<HotLevel> {
        let speed_ratio = level.speed / self.base.speed;
        let counted = self.counters_moved(level);
        let mut reads = self.read_ratio(level);
        if counted == Some(true) && !self.known.writes {
            // A card that throttles by duty cycle lets small reads through, but the workload's own reads show the heat.
            reads = reads.map(|ratio| ratio.max(1.0 / speed_ratio));
        }
        let slower = reads.is_some_and(|r| r >= HOT_READ_RATIO) && !self.is_cool(level, counted);
        let by_counter = counted == Some(true) && reads.is_none_or(|r| r >= COUNTED_READ_RATIO);
        if speed_ratio > MAX_HOT_SPEED || !(slower || by_counter) {
            return None;
        }
        let first = &self.slices[level.from];
        let near = |c: f64| self.known.tmt1_c.is_some_and(|limit| c >= limit - COOL_K);
        let confidence = match (counted, first.celsius) {
            (Some(true), _) => 0.99,
            (_, Some(c)) if near(c) => 0.97,
            _ => 0.92,
        };
        let seconds = self.slices[level.from..level.to].iter().map(|s| s.seconds).sum();
        let SeriesSlice { at_s, celsius, .. } = *first;
        let counted = counted == Some(true);
        let figures = ThermalStep { at_s, seconds, celsius, speed_ratio, read_ratio: reads, counted };
        Some(HotLevel { from: level.from, to: level.to, figures, confidence })
    }

    /// True if the card's throttling counters moved during a level or just before it.
    fn counters_moved(&self, level: &SpeedRange) -> Option<bool> {
        // Counters are queried about once a second, so a change belongs to the slices before.
        let before = self.slices[level.from.saturating_sub(8)].throttles?;
        let after = self.slices[level.to - 1].throttles?;
        Some(after > before)
    }

    /// True for a card that counts its throttling, counted none and is far from its limit. Slow reads do not change that.
    fn is_cool(&self, level: &SpeedRange, counted: Option<bool>) -> bool {
        let warmest = self.slices[level.from..level.to].iter().filter_map(|s| s.celsius).reduce(f64::max);
        let far = warmest.zip(self.known.tmt1_c).is_some_and(|(celsius, limit)| celsius < limit - COOL_K);
        counted == Some(false) && far
    }

    /// Finds steps that heat does not explain. Returns the first slice of each such level, and the slice of its step.
    fn unexplained_steps(&self, found: &mut SeriesCauses) -> Vec<(usize, usize)> {
        let hot = |level: &SpeedRange| found.heat.iter().find(|h| h.from == level.from);
        // Slowdown by heat, as far as reads show it.
        let slowed = |level: &SpeedRange| {
            hot(level).map_or(1.0, |h| h.figures.read_ratio.unwrap_or(1.0 / h.figures.speed_ratio))
        };
        let mut drops: Vec<SpeedStep> = Vec::new();
        let mut begins = Vec::new();
        let mut anchor: Option<(f64, f64)> = None;
        for level in &found.levels {
            let heat = slowed(level);
            let Some((speed, heat_before)) = anchor.replace((level.speed, heat)) else { continue };
            let change = heat / heat_before;
            let same_heat = change.ln().abs() < SAME_HEAT_LOG;
            let speed_ratio = level.speed / speed;
            let heat_share = (-HEAT_EXPONENT * change.ln().abs()).exp();
            let (ratio, limit) = match same_heat {
                true => (speed_ratio, MAX_FULL_SPEED),
                false => (speed_ratio * change, MAX_FULL_SPEED * heat_share),
            };
            let moved = speed_ratio.ln() * ratio.ln().signum();
            if (ratio < limit || ratio > 1.0 / limit) && moved > MIN_LOG_STEP {
                let step = self.make_step(level, speed);
                begins.push((level.from, step.slice));
                drops.push(step);
            } else if same_heat {
                // Small steps accumulate, so the next level is compared with the one before them.
                anchor = Some((speed, heat_before));
            }
        }
        self.classify_steps(drops, found);
        begins
    }

    fn make_step(&self, level: &SpeedRange, before: f64) -> SpeedStep {
        let slice = self.step_slice(level, before);
        let first @ &SeriesSlice { at_s, at_bytes, .. } = &self.slices[slice];
        let probed = level.probe_s.is_some() && self.base.probe_s.is_some();
        let confidence = [0.75, 0.91, 0.97][usize::from(probed) + usize::from(first.ping_s.is_some())];
        SpeedStep { slice, at_s, at_bytes, before, after: level.speed, confidence }
    }

    /// Slice in which a level begins, since levels are found in blocks of at least a second.
    fn step_slice(&self, level: &SpeedRange, before: f64) -> usize {
        let reach = (8 + (level.to - level.from) / 8).min(64);
        let (low, high) = (level.from.saturating_sub(reach), (level.from + reach).min(level.to));
        let logs = |i: usize| self.slices[i].speed().max(1.0).ln();
        let (old, new) = (before.ln(), level.speed.ln());
        let most = (old - new).abs();
        // The sum of distances from the new level less those from the old one is greatest at the best place for the step.
        let mut sum = 0.0;
        let mut best = (f64::MIN, low);
        for i in low..high {
            if sum > best.0 {
                best = (sum, i);
            }
            // The limit prevents a single stalled slice from deciding.
            sum += ((logs(i) - new).abs() - (logs(i) - old).abs()).clamp(-most, most);
        }
        best.1
    }

    /// Classifies steps: down is the end of a cache if the workload writes, up is its recovery, and a short dip is neither.
    fn classify_steps(&self, drops: Vec<SpeedStep>, found: &mut SeriesCauses) {
        let mut rest = drops.into_iter().peekable();
        while let Some(step) = rest.next() {
            let down = step.after < step.before;
            let over = |next: &SpeedStep| {
                down && next.after > next.before
                    && next.at_s - step.at_s < MAX_DIP_S
                    && next.after > 0.9 * step.before
            };
            if rest.next_if(over).is_some() {
                continue;
            }
            let is_full = found.cache_ends.len() > found.recoveries.len();
            match (down, self.known.writes) {
                // A cache that fills in several steps has a single end.
                (true, true) if is_full => {
                    found.cache_ends.last_mut().into_iter().for_each(|end| end.after = step.after)
                }
                (true, true) => found.cache_ends.push(step),
                (true, false) => found.unexplained.push(step),
                // Only a full cache can recover.
                (false, _) if is_full => found.recoveries.push(step),
                (false, _) => {}
            }
        }
    }
}
