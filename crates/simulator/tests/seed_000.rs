//! The Lexar of seed 000: ten runs of cdm_fio in the order and the amounts of that script (peers 2.4), with a fan
//! and without. The history of the cache and of the heat is part of the test, so whole sessions are run; to spare
//! the time of an unoptimised build they are run at a sixteenth of their size on a card whose cache and heat
//! capacity are a sixteenth too. The full size is run where `--ignored` asks for it.

#![allow(clippy::unwrap_used, reason = "a helper that fails ends its test, as an assertion does")]

mod common;
use cardscope_engine::content::Content;
use cardscope_engine::target::{Direction, Io, Target};
use cardscope_simulator::{Archetype, SimTarget};
use common::{GIB, KIB, MIB, card, drive, near, plan};

const START: u64 = 192 * MIB;

/// A session on a card, both of them divided by a number.
struct Session {
    card: SimTarget,
    /// cdm_fio's test size: 1 GiB.
    size: u64,
}

/// One run's figures in MiB/s, as the seed prints them.
#[derive(Debug, Clone, Copy)]
struct Run {
    seq1g: [f64; 2],
    seq512k: [f64; 2],
    seq32m: [f64; 2],
    rnd_q1: [f64; 2],
    rnd_q32: [f64; 2],
    rnd_q8t8: [f64; 2],
}

fn mib_s(bytes: u64, seconds: f64) -> f64 {
    bytes as f64 / MIB as f64 / seconds
}

impl Session {
    fn new(name: &str, divisor: u64) -> Self {
        let whole = Archetype::load("lexar-1tb-express").unwrap();
        let (cache, thermal) = (whole.cache.unwrap(), whole.thermal.unwrap());
        let (clean, reopen) = (cache.clean_bytes / divisor, cache.reopen_bytes / divisor);
        let (joules, idle) = (thermal.capacity_j_per_k / divisor as f64, cache.idle_s / divisor as f64);
        let scale =
            format!("clean_bytes={clean}&reopen_bytes={reopen}&capacity_j_per_k={joules}&idle_s={idle}");
        Session { card: card(&format!("sim:lexar-1tb-express?{name}&{scale}")), size: GIB / divisor }
    }

    fn in_order(&mut self, write: bool, block: u64, depth: u32) -> f64 {
        let size = self.size;
        let places = (0..5 * size / block).map(|i| START + i * block % size);
        mib_s(5 * size, drive(&mut self.card, &plan(depth, block), write, places))
    }

    /// Random 4 KiB I/O, driven without the helper's bookkeeping: these are 26 million I/Os a full run.
    fn random(&mut self, write: bool, depth: u32, bytes: u64) -> f64 {
        self.card.plan(&plan(depth, 4 * KIB)).unwrap();
        let direction = if write { Direction::Write } else { Direction::Read };
        let (start, blocks) = (self.card.now(), self.size / 4096);
        let mut state = 0x9e37_79b9u64;
        let mut next = |slot| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            Io {
                slot,
                direction,
                offset: START + (state % blocks) * 4096,
                len: 4096,
                content: Content::Noise,
            }
        };
        let count = bytes / 4096;
        let mut done = Vec::with_capacity(depth as usize);
        (0..depth).for_each(|slot| self.card.submit(&next(slot)).unwrap());
        let (mut submitted, mut ended) = (u64::from(depth), 0);
        while ended < count {
            self.card.complete(1, &mut done).unwrap();
            for completion in done.drain(..) {
                ended += 1;
                if submitted < count {
                    submitted += 1;
                    self.card.submit(&next(completion.slot)).unwrap();
                }
            }
        }
        mib_s(bytes, (self.card.now() - start) as f64 / 1e9)
    }

    fn cdm_fio(&mut self) -> Run {
        let size = self.size;
        drive(&mut self.card, &plan(1, size), true, [START]);
        let mut both = |test: &dyn Fn(&mut Session, bool) -> f64| [test(self, false), test(self, true)];
        Run {
            seq1g: both(&|s, w| s.in_order(w, size, 1)),
            seq512k: both(&|s, w| s.in_order(w, 512 * KIB, 1)),
            seq32m: both(&|s, w| s.in_order(w, size / 32, 32)),
            rnd_q1: both(&|s, w| s.random(w, 1, 5 * size)),
            rnd_q32: both(&|s, w| s.random(w, 32, 5 * size)),
            rnd_q8t8: both(&|s, w| s.random(w, 64, 40 * size)),
        }
    }

    fn ten_runs(&mut self) -> Vec<Run> {
        (1..=10)
            .map(|n| {
                let run = self.cdm_fio();
                let (at, celsius) = (self.card.now() as f64 / 1e9, self.card.temperature().unwrap());
                println!("{n:2} {at:>7.0} s {celsius:>4.0} °C {run:.0?}");
                run
            })
            .collect()
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let all: Vec<f64> = values.collect();
    assert!(!all.is_empty());
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn ten_runs_with_a_fan_fall_into_the_two_levels_of_the_seed() {
    with_a_fan(&Session::new("cooling=active", 16).ten_runs());
}

#[test]
fn ten_runs_without_a_fan_throttle_from_the_third_on() {
    without_a_fan(&Session::new("cooling=passive", 16).ten_runs());
}

#[test]
#[ignore = "262 million I/Os: run it optimised"]
fn the_whole_session_with_a_fan_says_the_same() {
    with_a_fan(&Session::new("cooling=active", 1).ten_runs());
}

#[test]
#[ignore = "262 million I/Os: run it optimised"]
fn the_whole_session_without_a_fan_says_the_same() {
    without_a_fan(&Session::new("cooling=passive", 1).ten_runs());
}

fn with_a_fan(runs: &[Run]) {
    let fast: Vec<&Run> = runs.iter().filter(|r| r.seq1g[1] > 550.0).collect();
    let slow: Vec<&Run> = runs.iter().filter(|r| r.seq1g[1] < 300.0).collect();
    assert!(runs[0].seq1g[1] > 550.0 && runs[1].seq1g[1] > 550.0, "the first two runs are fast");
    assert!((5..=7).contains(&slow.len()), "{} of 10 runs are slow, 50 to 70 % expected", slow.len());
    assert!(fast.iter().skip(2).count() >= 1, "the cache comes back at least once");
    let level = |what: &str, runs: &[&Run], of: fn(&Run) -> f64, published: f64, percent: f64| {
        near(what, mean(runs.iter().map(|r| of(r))), published, percent);
    };
    // Levels of flash-behaviour 2.6, in MiB/s.
    level("SEQ1G read", &fast, |r| r.seq1g[0], 743.0, 5.0);
    level("SEQ1G write, fast", &fast, |r| r.seq1g[1], 597.0, 5.0);
    level("SEQ1G write, slow", &slow, |r| r.seq1g[1], 280.0, 5.0);
    level("SEQ512K read", &slow, |r| r.seq512k[0], 488.0, 5.0);
    level("SEQ512K write, slow", &slow, |r| r.seq512k[1], 224.0, 5.0);
    level("SEQ32M read", &slow, |r| r.seq32m[0], 748.0, 5.0);
    level("SEQ32M write, slow", &slow, |r| r.seq32m[1], 285.0, 5.0);
    level("RND4K Q1 read, slow", &slow, |r| r.rnd_q1[0], 20.5, 10.0);
    let first = &[&runs[0]][..];
    level("SEQ512K write, fast", first, |r| r.seq512k[1], 430.0, 5.0);
    level("SEQ32M write, fast", first, |r| r.seq32m[1], 626.0, 5.0);
    level("RND4K Q1 read, cached", first, |r| r.rnd_q1[0], 35.0, 10.0);
    level("RND4K Q1 write, fast", first, |r| r.rnd_q1[1], 158.0, 5.0);
    level("RND4K Q32 read, cached", first, |r| r.rnd_q32[0], 465.0, 5.0);
    level("RND4K Q32 write, fast", first, |r| r.rnd_q32[1], 534.0, 5.0);
    level("RND4K Q8T8 read, cached", first, |r| r.rnd_q8t8[0], 428.0, 5.0);
    level("RND4K Q8T8 write, fast", first, |r| r.rnd_q8t8[1], 534.0, 10.0);
    let third = &[&runs[2]][..];
    level("RND4K Q1 write, slow", third, |r| r.rnd_q1[1], 139.0, 5.0);
    level("RND4K Q32 read, TLC", third, |r| r.rnd_q32[0], 397.0, 5.0);
    level("RND4K Q32 write, slow", third, |r| r.rnd_q32[1], 223.0, 5.0);
}

fn without_a_fan(runs: &[Run]) {
    assert!(runs[0].seq1g[0] > 700.0 && runs[1].seq1g[0] > 650.0, "cool at first");
    let hot: Vec<f64> = runs[2..].iter().map(|r| r.seq1g[0]).collect();
    for (i, read) in hot.iter().enumerate() {
        // The seed's own span is 478 to 558; the task allows 10 %.
        assert!((478.0 * 0.9..558.0 * 1.1).contains(read), "run {}: SEQ1G read {read:.0} MiB/s", i + 3);
    }
    near("passive plateau, read", mean(hot.into_iter()), 523.0, 10.0);
    let slow: Vec<f64> = runs[2..].iter().map(|r| r.seq1g[1]).filter(|w| *w < 300.0).collect();
    near("passive plateau, write", mean(slow.into_iter()), 236.0, 10.0);
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let run = |seed: u64| {
        let mut session = Session::new(&format!("seed={seed}"), 16);
        session.in_order(true, 512 * KIB, 4) + session.random(false, 32, 64 * MIB)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}
