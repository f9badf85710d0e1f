//! What a write costs by its size, in order and at random: the curve that opens seed 004; and whether the reader cuts
//! long writes in two (flash-behaviour 0, 5).

use super::bench::Bench;
use crate::card::Piece;
use crate::trouble::Stop;
use cardscope_analysis::quantile::{median, median_deviation};
use cardscope_model::card_map::SizePoint;
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::finding::{Finding, Weight};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Sizes with the number of writes of each: 11 MiB in order, and as much at random where they are fast.
const SIZES: [(u64, usize); 14] = [
    (4 * MIB, 1),
    (2 * MIB, 1),
    (MIB, 1),
    (512 * KIB, 2),
    (256 * KIB, 4),
    (128 * KIB, 6),
    (64 * KIB, 8),
    (32 * KIB, 12),
    (16 * KIB, 16),
    (8 * KIB, 16),
    (4 * KIB, 16),
    (2 * KIB, 16),
    (KIB, 16),
    (512, 16),
];

/// Writes at random go over so much: what benchmarks use.
const SPAN: u64 = 1 << 30;

/// One size at random ends after so many seconds, where each write closes a block.
const MOST_SECONDS: f64 = 2.0;

/// Writes of one size at random that are saved in one go.
const BATCH: usize = 4;

/// Measures both curves, then the reader.
pub(super) fn measure(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    in_order(bench)?;
    at_random(bench)?;
    let curves = &bench.into.curves;
    let plot = plot(&curves.sequential_write, &curves.random_write);
    bench.into.plots.push(plot);
    reader(bench)
}

/// The sizes that the target takes.
fn sizes(bench: &Bench<'_, '_, '_>) -> impl Iterator<Item = (u64, usize)> + use<> {
    let sector = u64::from(bench.site.sector());
    SIZES.into_iter().filter(move |(size, _)| *size >= sector)
}

/// From the largest size down, one directly behind the other: so each write begins on a multiple of its size.
fn in_order(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let all: u64 = SIZES.iter().map(|(size, n)| size * *n as u64).sum();
    let Some(start) = bench.stretch(all) else { return Ok(()) };
    let mut at = start;
    for (size, n) in sizes(bench) {
        bench.afford(0.1)?;
        let pieces: Vec<Piece> =
            (0..n as u64).map(|i| Piece { offset: at + i * size, len: size as u32 }).collect();
        at += size * n as u64;
        let times = bench.write_all(&pieces)?;
        bench.into.curves.sequential_write.extend(point(size, &times));
    }
    bench.into.curves.sequential_write.sort_by_key(|p| p.bytes);
    Ok(())
}

fn at_random(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let span = SPAN.min(bench.ground.bytes());
    let Some(start) = bench.ground.span(span, &mut bench.site.random) else { return Ok(()) };
    for (size, n) in sizes(bench) {
        bench.afford(0.1)?;
        let began = bench.site.seconds();
        let mut times = Vec::new();
        while times.len() < n && (times.is_empty() || bench.site.seconds() - began < MOST_SECONDS) {
            let batch = BATCH.min(n - times.len());
            let pieces: Vec<Piece> = (0..batch)
                .map(|_| Piece {
                    offset: start + bench.site.random.below(span / size) * size,
                    len: size as u32,
                })
                .collect();
            let found = bench.write_all(&pieces)?;
            if found.is_empty() {
                break;
            }
            times.extend(found);
        }
        bench.into.curves.random_write.extend(point(size, &times));
    }
    bench.into.curves.random_write.sort_by_key(|p| p.bytes);
    Ok(())
}

fn point(size: u64, times: &[f64]) -> Option<SizePoint> {
    let p50_us = median(times)? * 1e6;
    let iops = times.len() as f64 / times.iter().sum::<f64>();
    Some(SizePoint { bytes: size, mb_s: iops * size as f64 / 1e6, iops, p50_us, ios: times.len() as u64 })
}

fn plot(in_order: &[SizePoint], at_random: &[SizePoint]) -> Plot {
    let series = |name: &str, points: &[SizePoint]| Series {
        name: name.to_owned(),
        points: points.iter().map(|p| (p.bytes as f64, p.mb_s)).collect(),
    };
    Plot {
        title: "write speed by size".to_owned(),
        x: Axis::new("size of a write", "bytes", Scale::Log2),
        y: Axis::new("speed", "MB/s", Scale::Log10),
        series: vec![series("in order", in_order), series("at random", at_random)],
        marks: Vec::new(),
    }
}

/// Sizes around the usual cut of USB readers: 240 sectors (usb-storage).
const CUT: [u64; 3] = [64 * KIB, 120 * KIB, 128 * KIB];

/// Rounds of the three sizes: at first, and at most.
const ROUNDS: (usize, usize) = (8, 64);

/// A card so fast is given more rounds, since a cut costs it little.
const MOST_READER_SECONDS: f64 = 1.5;

/// Compares 128 KiB with what 64 and 120 KiB let expect, until it is dearer for sure or cannot be by much.
fn reader(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    let round: u64 = CUT.iter().sum::<u64>().next_multiple_of(64 * KIB);
    let most = ROUNDS.1.min((bench.ground.unit() / round) as usize);
    let began = bench.site.seconds();
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut seen = None;
    'places: while times[0].len() < ROUNDS.1 {
        let Some(mut at) = bench.places(1).map(|p| p[0]) else { break };
        for _ in 0..most.max(1) {
            let pieces: Vec<Piece> = CUT
                .iter()
                .scan(at, |at, size| {
                    let offset = *at;
                    *at += size;
                    Some(Piece { offset, len: *size as u32 })
                })
                .collect();
            at += round;
            let found = bench.write_all(&pieces)?;
            if found.len() == CUT.len() {
                times.iter_mut().zip(found).for_each(|(list, t)| list.push(t));
            }
            seen = fragment(&times);
            let enough = times[0].len() >= ROUNDS.0
                && (seen.is_some_and(|f| f.is_there() || f.cannot_matter())
                    || bench.site.seconds() - began > MOST_READER_SECONDS);
            if enough {
                break 'places;
            }
        }
    }
    if let Some(seen) = seen.filter(Fragment::is_there) {
        bench.into.findings.push(seen.finding());
    }
    Ok(())
}

/// What a write of 128 KiB takes beyond one of 120 KiB and the transfer of 8 KiB more.
#[derive(Debug, Clone, Copy)]
struct Fragment {
    small: f64,
    uncut: f64,
    cut: f64,
    excess: f64,
    error: f64,
}

fn fragment(times: &[Vec<f64>; 3]) -> Option<Fragment> {
    let [small, uncut, cut] = [median(&times[0])?, median(&times[1])?, median(&times[2])?];
    let error = |list: &[f64], centre: f64| {
        let spread = 1.4826 * median_deviation(list, centre).unwrap_or(0.0);
        1.2533 * spread.max(0.01 * centre) / (list.len() as f64).sqrt()
    };
    let share = 8.0 / 56.0;
    let excess = cut - uncut - share * (uncut - small);
    let error = error(&times[2], cut)
        .hypot((1.0 + share) * error(&times[1], uncut))
        .hypot(share * error(&times[0], small));
    Some(Fragment { small, uncut, cut, excess, error })
}

impl Fragment {
    /// Four standard errors, and at least 2 % of the write.
    fn is_there(&self) -> bool {
        self.excess > 4.0 * self.error && self.excess > 0.02 * self.cut
    }

    fn cannot_matter(&self) -> bool {
        self.excess + 3.0 * self.error < 0.02 * self.cut
    }

    fn finding(&self) -> Finding {
        let sigmas = self.excess / self.error;
        Finding::new(
            "reader-splits",
            Weight::Hint,
            (1.0 - (-sigmas * sigmas / 2.0).exp()).min(0.99),
            "The reader cuts writes above 120 KiB in two, and the short rest costs extra.",
        )
        .because("64 KiB", format!("{:.2} ms", self.small * 1e3))
        .because("120 KiB", format!("{:.2} ms", self.uncut * 1e3))
        .because(
            "128 KiB",
            format!(
                "{:.2} ms, {:.2} ± {:.2} ms more than expected",
                self.cut * 1e3,
                self.excess * 1e3,
                self.error * 1e3
            ),
        )
        .advise("Use a reader that takes longer commands, or write in pieces of 120 KiB and less.")
    }
}
