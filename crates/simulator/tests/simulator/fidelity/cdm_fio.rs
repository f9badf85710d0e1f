//! Sessions of cdm_fio in the order and with the amounts of that script: each run writes its file once, then runs six
//! patterns, five times the file each and forty times for eight jobs, reads before writes. The history of cache and
//! heat is part of the test, so whole sessions are run.

use super::page::RunForm;
use crate::common::{GIB, KIB, MIB, direct_plan};
use cardscope_engine::content::IoContent;
use cardscope_engine::target::{IoDirection, IoRequest, Target};
use cardscope_simulator::{SimTarget, target_spec};

/// Tests in the order of the script.
pub(crate) const TESTS: [&str; 12] = [
    "SEQ1G read",
    "SEQ1G write",
    "SEQ512K Q1 read",
    "SEQ512K Q1 write",
    "SEQ32M Q32 read",
    "SEQ32M Q32 write",
    "RND4K Q1 read",
    "RND4K Q1 write",
    "RND4K Q32 read",
    "RND4K Q32 write",
    "RND4K Q8T8 read",
    "RND4K Q8T8 write",
];

pub(crate) const Q8T8_WRITE: usize = 11;

const START: u64 = 192 * MIB;

/// Results of one run as the script prints them: MiB/s, rounded down.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScriptRun {
    pub(crate) mib_s: [f64; 12],
    /// Seconds of the run at the full size of the script.
    pub(crate) seconds: f64,
}

#[derive(Debug)]
pub(crate) struct ScriptSession {
    pub(crate) runs: Vec<ScriptRun>,
    pub(crate) idle_c: f64,
    pub(crate) highest_c: f64,
    /// Number of starts of light throttling.
    pub(crate) throttled: u32,
}

/// Card under the script, both scaled down by `divisor`: the short form runs a sixteenth of the size on a card with a
/// sixteenth of the cache and of the heat capacity.
struct ScaledCard {
    card: SimTarget,
    size: u64,
    divisor: u64,
    places: u64,
}

/// Runs the script once for each size of its file, in MiB.
pub(crate) fn run_session(name: &str, sizes_mib: &[u64], form: RunForm) -> ScriptSession {
    let divisor = if form == RunForm::Full { 1 } else { 16 };
    let card = SimTarget::open_named(&scaled_name(name, divisor)).unwrap();
    let mut rig = ScaledCard { card, size: GIB, divisor, places: 0x9e37_79b9 };
    let idle_c = rig.card.temperature().unwrap();
    let mut highest_c = idle_c;
    let runs = sizes_mib
        .iter()
        .map(|mib| {
            rig.size = mib * MIB / divisor;
            rig.run(&mut highest_c)
        })
        .collect();
    let throttled = rig.card.health().unwrap().thermal_management_t1_transitions;
    ScriptSession { runs, idle_c, highest_c, throttled }
}

fn scaled_name(name: &str, divisor: u64) -> String {
    let card = target_spec::parse(name).unwrap().archetype;
    let (cache, thermal) = (card.cache.unwrap(), card.thermal.unwrap());
    let start = cache.start_bytes.unwrap_or(cache.clean_bytes) / divisor;
    format!(
        "{name}{}clean_bytes={}&start_bytes={start}&reopen_bytes={}&capacity_j_per_k={}&idle_s={}&rest_s={}",
        if name.contains('?') { '&' } else { '?' },
        cache.clean_bytes / divisor,
        cache.reopen_bytes / divisor,
        thermal.capacity_j_per_k / divisor as f64,
        cache.idle_s / divisor as f64,
        cache.rest_s / divisor as f64
    )
}

impl ScaledCard {
    fn run(&mut self, highest_c: &mut f64) -> ScriptRun {
        let (size, start) = (self.size, self.card.now());
        self.run_pattern(true, size, 1, size, false);
        let patterns = [
            (size, 1, 5, false),
            (512 * KIB, 1, 5, false),
            (size / 32, 32, 5, false),
            (4 * KIB, 1, 5, true),
            (4 * KIB, 32, 5, true),
            (4 * KIB, 64, 40, true),
        ];
        let mut mib_s = [0.0; 12];
        for (i, (block, depth, loops, random)) in patterns.into_iter().enumerate() {
            for write in [false, true] {
                let speed = self.run_pattern(write, block, depth, loops * size, random);
                mib_s[2 * i + usize::from(write)] = speed.floor();
                *highest_c = highest_c.max(self.card.temperature().unwrap());
            }
        }
        let seconds = (self.card.now() - start) as f64 / 1e9 * self.divisor as f64;
        ScriptRun { mib_s, seconds }
    }

    /// Moves `bytes` in blocks over the file; returns MiB/s. Written without the bookkeeping of the helpers, since a
    /// full run has 26 million I/Os.
    fn run_pattern(&mut self, write: bool, block: u64, depth: u32, bytes: u64, random: bool) -> f64 {
        self.card.plan(&direct_plan(depth, block)).unwrap();
        let direction = if write { IoDirection::Write } else { IoDirection::Read };
        let (began, blocks, count) = (self.card.now(), self.size / block, bytes / block);
        let (mut places, mut number) = (self.places, 0);
        let mut next = |slot| {
            let place = if random { xorshift(&mut places) } else { number };
            number += 1;
            let offset = START + place % blocks * block;
            IoRequest { slot, direction, offset, len: block as u32, content: IoContent::Noise }
        };
        let mut done = Vec::with_capacity(depth as usize);
        let mut submitted = count.min(u64::from(depth));
        (0..submitted as u32).for_each(|slot| self.card.submit(&next(slot)).unwrap());
        let mut ended = 0;
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
        self.places = places;
        (count * block) as f64 / MIB as f64 / ((self.card.now() - began) as f64 / 1e9)
    }
}

fn xorshift(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
