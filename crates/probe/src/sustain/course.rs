//! The course of a run, slice by slice: a quarter of a second of the workload, then what is asked beside it (small
//! reads, a command that needs no flash, temperature; once a second a long read, the card's counters, and a read with
//! writes under way).

use super::places::Places;
use super::samples::{Gathering, Now};
use super::{BLOCK, DEPTH, Log, Options};
use crate::site::Site;
use crate::trouble::Stop;
use cardscope_analysis::quantile::median;
use cardscope_analysis::series::{Gap, Slice};
use cardscope_engine::target::Direction;
use cardscope_model::nvme::SmartLog;
use cardscope_model::sustain::{Event, EventKind, Phase, Reading, Sample, Work};
use std::time::Duration;

/// Seconds of the workload in a slice (flash-behaviour 4.1).
const SLICE_S: f64 = 0.25;

/// What takes as many slices is asked once a second.
const SELDOM: usize = 4;

/// Times without a completion that are noted, in seconds.
const GAP_S: f64 = 0.1;

/// Commands that need no flash, in a slice.
const PINGS: usize = 3;

/// A long read takes about so long, in seconds.
const LONG_READ_S: f64 = 0.012;

/// Its bytes: longer than a reader's own memory (32 to 64 KiB), shorter than what is only read.
const LONG_READ: (u64, u64) = (256 << 10, 16 << 20);

/// A card that takes longer for a block gets fewer of them in flight, so that a slice ends in time.
const SLOW_BLOCK_S: f64 = 0.02;

/// That is: one under way and one to follow.
const SLOW_DEPTH: u32 = 2;

/// Slices in a row in which nothing succeeded, after which nothing more is tried.
const MOST_EMPTY: u32 = 20;

/// Latencies that are kept for quantiles.
const MOST_LATENCIES: usize = 200_000;

/// Where the card's own temperature is taken.
const CARD: &str = "card";

/// A slice, and what the run was at.
#[derive(Debug, Clone)]
pub(super) struct Taken {
    pub(super) slice: Slice,
    pub(super) phase: Phase,
    pub(super) writes: bool,
}

/// All that a run leaves.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) taken: Vec<Taken>,
    pub(super) samples: Vec<Sample>,
    pub(super) events: Vec<Event>,
    /// Small reads with nothing else under way, in seconds; those under writes.
    pub(super) alone: Vec<f64>,
    pub(super) among: Vec<f64>,
    pub(super) health: Option<(SmartLog, SmartLog)>,
    pub(super) ended_by: String,
    pub(super) left_out: Vec<String>,
    pub(super) pause_s: f64,
    pub(super) experiment: Option<cardscope_analysis::series::experiment::Experiment>,
    pub(super) written: u64,
    pub(super) read: u64,
}

/// A run under way.
pub(super) struct Course<'s, 't> {
    pub(super) site: Site<'s, 't>,
    pub(super) options: &'s Options,
    log: &'s mut dyn Log,
    pub(super) places: Places,
    pub(super) record: Record,
    pub(super) phase: Phase,
    gathering: Gathering,
    began_s: f64,
    sampled_s: f64,
    long_bytes: u64,
    depth: u32,
    empty: u32,
    /// True once something ended the run before its time: heat, or a card that fails everything.
    pub(super) over: bool,
}

impl<'s, 't> Course<'s, 't> {
    pub(super) fn new(mut site: Site<'s, 't>, options: &'s Options, log: &'s mut dyn Log) -> Self {
        let began_s = site.seconds();
        Course {
            places: Places::new(options),
            site,
            options,
            log,
            record: Record::default(),
            phase: Phase::Main,
            gathering: Gathering::default(),
            began_s,
            sampled_s: 0.0,
            long_bytes: LONG_READ.0,
            depth: DEPTH,
            empty: 0,
            over: false,
        }
    }

    /// Seconds since the run began.
    pub(super) fn now(&mut self) -> f64 {
        self.site.seconds() - self.began_s
    }

    /// Seconds that are left of the run.
    pub(super) fn left(&mut self) -> f64 {
        self.options.duration.as_secs_f64() - self.now()
    }

    /// Bytes of the workload: written, or of a run of reads read.
    pub(super) fn moved(&self) -> u64 {
        if self.options.work == Work::Read { self.record.read } else { self.record.written }
    }

    /// Finds out how large a long read may be, and how many blocks fit into a slice.
    pub(super) fn calibrate(&mut self) -> Result<(), Stop> {
        self.site.shape(BLOCK, DEPTH)?;
        if let Some(first) = self.site.health() {
            self.record.health = Some((first.clone(), first));
        }
        let one: Vec<_> = self.places.long_read(u64::from(BLOCK)).collect();
        let mut times = Vec::new();
        for _ in 0..3 {
            for piece in &one {
                times.extend(self.site.read(*piece)?);
            }
        }
        let Some(block_s) = median(&times) else { return Ok(()) };
        let bytes = f64::from(BLOCK) * LONG_READ_S / block_s.max(1e-6);
        let unit = if bytes < f64::from(BLOCK) { LONG_READ.0 } else { u64::from(BLOCK) };
        self.long_bytes = (bytes as u64).clamp(LONG_READ.0, LONG_READ.1) / unit * unit;
        if block_s > SLOW_BLOCK_S {
            self.depth = SLOW_DEPTH;
            self.site.shape(BLOCK, SLOW_DEPTH)?;
        }
        Ok(())
    }

    /// One slice of the workload's own pattern.
    pub(super) fn slice(&mut self, writes: bool) -> Result<(), Stop> {
        self.slice_of(writes, false)
    }

    /// One slice of reads in order, whatever the workload's pattern.
    pub(super) fn reading_slice(&mut self) -> Result<(), Stop> {
        self.slice_of(false, true)
    }

    fn slice_of(&mut self, writes: bool, in_order: bool) -> Result<(), Stop> {
        let at_s = self.now();
        let at_bytes = if writes { self.record.written } else { self.record.read };
        let mut slice = Slice { at_s, at_bytes, ..Slice::default() };
        let ended = self.work(writes, in_order, &mut slice);
        self.count(writes, slice.bytes);
        ended?;
        self.empty = if slice.ios == 0 { self.empty + 1 } else { 0 };
        if self.empty >= MOST_EMPTY {
            self.end("no I/O succeeds any more");
        }
        self.beside(&mut slice)?;
        if self.record.taken.len().is_multiple_of(SELDOM) {
            self.seldom(writes, &mut slice)?;
        }
        slice.throttles = self.transitions().map(|(t1, t2)| t1 + t2);
        let taken = Taken { slice, phase: self.phase, writes };
        self.gathering.add(&taken);
        self.record.taken.push(taken);
        if self.now() - self.sampled_s >= 1.0 { self.sample() } else { Ok(()) }
    }

    fn count(&mut self, writes: bool, bytes: u64) {
        match writes {
            true => self.record.written += bytes,
            false => self.record.read += bytes,
        }
    }

    /// A quarter of a second of the workload itself.
    fn work(&mut self, writes: bool, in_order: bool, slice: &mut Slice) -> Result<(), Stop> {
        let direction = if writes { Direction::Write } else { Direction::Read };
        let places = &mut self.places;
        let mut next = std::iter::from_fn(|| {
            Some(if in_order { places.next_sequential_read() } else { places.next(writes) })
        });
        let (at_bytes, mut intervals) = (slice.at_bytes, Vec::new());
        let ended = self.site.course_for(direction, SLICE_S, &mut next, |piece, at| {
            let seconds = at - slice.seconds;
            intervals.push(seconds);
            if seconds >= GAP_S {
                slice.gaps.push(Gap { at_bytes: at_bytes + slice.bytes, seconds });
            }
            slice.ios += 1;
            slice.bytes += u64::from(piece.len);
            slice.seconds = at;
        });
        slice.interval_s = median(&intervals);
        ended
    }

    /// What is asked in each slice.
    fn beside(&mut self, slice: &mut Slice) -> Result<(), Stop> {
        let mut times = Vec::with_capacity(self.places.small.len());
        for piece in self.places.small {
            times.extend(self.site.read(piece)?);
        }
        if self.record.alone.len() < MOST_LATENCIES {
            self.record.alone.extend(&times);
        }
        slice.probe_s = median(&times);
        let mut pings = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            pings.extend(self.site.ping()?);
        }
        slice.ping_s = median(&pings);
        slice.celsius = self.site.temperature();
        Ok(())
    }

    /// What is asked once a second.
    fn seldom(&mut self, writes: bool, slice: &mut Slice) -> Result<(), Stop> {
        let (began, mut bytes) = (self.site.seconds(), 0);
        let pieces: Vec<_> = self.places.long_read(self.long_bytes).collect();
        let wanted: u64 = pieces.iter().map(|p| u64::from(p.len)).sum();
        self.site.read_course(pieces, |piece, _| bytes += u64::from(piece.len))?;
        let took = self.site.seconds() - began;
        slice.long_read_s = (bytes == wanted).then_some(took);
        if writes {
            // No more than fit: a piece that is left out would be a gap in the order.
            let others: Vec<_> = (1..self.depth).map(|_| self.places.next(true)).collect();
            let among = self.site.read_among_writes(&others, self.places.small[0])?;
            self.count(true, others.iter().map(|p| u64::from(p.len)).sum());
            self.gathering.among_us = among.map(|s| s * 1e6);
            self.record.among.extend(among);
        }
        if self.record.health.is_some()
            && let (Some(health), Some(now)) = (&mut self.record.health, self.site.health())
        {
            health.1 = now;
        }
        Ok(())
    }

    fn transitions(&self) -> Option<(u32, u32)> {
        let (_, now) = self.record.health.as_ref()?;
        Some((now.thermal_management_t1_transitions, now.thermal_management_t2_transitions))
    }

    /// Lets time pass without I/O, with a sample each second.
    pub(super) fn pause(&mut self, seconds: f64) -> Result<(), Stop> {
        let until = self.now() + seconds;
        loop {
            let left = until - self.now();
            if left <= 1e-6 {
                return Ok(());
            }
            self.site.go_on()?;
            self.site.idle(Duration::from_secs_f64(left.min(1.0)));
            self.sample()?;
        }
    }

    /// Makes a sample of what gathered, and has it kept.
    fn sample(&mut self) -> Result<(), Stop> {
        let at_s = self.now();
        self.sampled_s = at_s;
        let celsius = self.site.temperature();
        let of_card = celsius.map(|celsius| Reading { place: CARD.to_owned(), celsius });
        let temperatures: Vec<Reading> = of_card.into_iter().chain(self.log.outside()).collect();
        self.watch_heat(&temperatures);
        let now = Now {
            at_s,
            phase: self.phase,
            written: self.record.written,
            read: self.record.read,
            temperatures,
            transitions: self.transitions(),
        };
        let sample = self.gathering.take(now);
        self.site.watch.progress(self.moved(), at_s);
        self.log.sample(&sample)?;
        self.record.samples.push(sample);
        Ok(())
    }

    /// Ends the run where the card, by its own thermometer or one held to it, is as hot as it may become.
    fn watch_heat(&mut self, temperatures: &[Reading]) {
        let Some(most) = self.options.max_celsius.filter(|_| !self.over) else { return };
        let of_card = temperatures.iter().filter(|r| r.place.starts_with(CARD));
        let Some(hottest) = of_card.map(|r| r.celsius).reduce(f64::max).filter(|c| *c >= most) else {
            return;
        };
        self.end("--max-temp");
        self.event(EventKind::TooHot, 1.0, &[("temperature °C", hottest), ("limit °C", most)]);
    }

    /// Notes what happened, here and now.
    pub(super) fn event(&mut self, kind: EventKind, confidence: f64, evidence: &[(&str, f64)]) {
        let event = Event::new(kind, self.now(), self.moved(), confidence);
        self.record.events.push(evidence.iter().fold(event, |e, (what, value)| e.because(what, value)));
    }

    /// Nothing more is tried.
    pub(super) fn end(&mut self, why: &str) {
        self.over = true;
        self.record.ended_by = why.to_owned();
    }

    /// All that the run leaves.
    pub(super) fn finish(self) -> Record {
        self.record
    }
}
