//! Carries out a recipe on a target: prepares the test area, runs each test's loops, hands every finished sample
//! to the observer before the next begins.
//!
//! What the runner must not know comes in from outside: where samples are kept ([`Observer::sample`]) and when a
//! figure is known well enough ([`Pace`]).

mod drive;
mod lanes;
mod meter;
mod observer;
mod prepare;
mod stream;

use crate::allowance::Allowance;
use crate::target::{Region, Target, TargetError};
use cardscope_model::caveat::Caveat;
use cardscope_model::random::mix;
use cardscope_model::recipe::{Recipe, Span, Test};
use cardscope_model::units::{NANOS_PER_S, Nanos};
use lanes::{Loop, Looped};
pub use observer::{Cut, Observer, ObserverError, Pace, RunError, Settings, Step};
use std::time::Duration;

/// Why a test has no figure where writing is limited.
const NO_MORE_BYTES: &str = "no more may be written here; give a larger --max-write";

/// Runs one pass of `recipe`.
///
/// # Errors
/// If the target fails or goes away, a sample cannot be kept, or the user interrupts; every sample handed out
/// before stays valid.
pub fn run_pass(
    target: &mut dyn Target,
    recipe: &Recipe,
    settings: &Settings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    if let Some(test) = recipe.tests.iter().find(|t| t.name.op.writes() && !settings.may_write) {
        return Err(RunError::ReadOnly(test.key()));
    }
    let area = target.area(recipe.area)?;
    if settings.may_write {
        make_ready(target, recipe, area, settings, observer)?;
    }
    let kept = target.allowance().map_or(0, Allowance::kept);
    for index in 0..recipe.tests.len() {
        let test = &recipe.tests[index];
        match obstacle(target, test, settings) {
            Some(reason) => observer.not_measured(index, reason),
            None => run_test(target, recipe, index, area, kept, settings, observer)?,
        }
        share_out(target, kept, 1);
    }
    Ok(())
}

/// Where writing is limited, puts by what others are to write: of what is left above `kept`, one of `shares` may be
/// written now.
fn share_out(target: &mut dyn Target, kept: u64, shares: u64) {
    if let Some(allowance) = target.allowance() {
        allowance.keep(kept);
        let left = allowance.left();
        allowance.keep(kept + left - left / shares.max(1));
    }
}

/// Loops that write from this test on.
fn loops_that_write(tests: &[Test]) -> u64 {
    let writing = tests.iter().filter(|test| test.name.op.writes());
    writing.map(|test| u64::from(test.discard_loops + test.loops)).sum()
}

/// Whether a limit leaves less than one loop of a test must write at least: its preparation and a block.
fn lacks_bytes(target: &mut dyn Target, test: &Test, region: Region) -> bool {
    let prepared = if test.prepare.is_some() { region.len } else { 0 };
    let written = if test.name.op.writes() { test.name.pattern.block } else { 0 };
    target.allowance().is_some_and(|allowance| allowance.left() < prepared + written)
}

/// Brings the area into the state in which the recipe starts.
fn make_ready(
    target: &mut dyn Target,
    recipe: &Recipe,
    area: Region,
    settings: &Settings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    if recipe.discard
        && let Err(error) = target.discard(area)
    {
        let text = format!("the recipe starts with a discard, which was not possible here ({error})");
        observer.caveat(0, Caveat::Other { text });
    }
    if let Some(prepare) = recipe.prepare {
        prepare::prepare(target, area, prepare, settings, observer)?;
        rest(target, recipe.rest_after_prepare_s, settings, observer)?;
    }
    Ok(())
}

/// Why a test cannot be measured on this target, if so.
fn obstacle(target: &mut dyn Target, test: &Test, settings: &Settings<'_>) -> Option<String> {
    let now = target.now();
    let info = target.info();
    if settings.deadline.is_some_and(|d| now >= d) {
        return Some("the budget was used up".to_owned());
    }
    if test.span == Span::Device && !info.whole_card {
        return Some("it goes over the whole card, and the target is a file or directory".to_owned());
    }
    match (&test.filesystem, &info.file_system) {
        (Some(wanted), Some(there)) if wanted == there => None,
        (Some(wanted), there) => {
            let there = there.as_deref().unwrap_or("no file system");
            Some(format!("it is measured through {wanted}, and the target has {there}"))
        }
        (None, _) => None,
    }
}

fn run_test(
    target: &mut dyn Target,
    recipe: &Recipe,
    index: usize,
    area: Region,
    kept: u64,
    settings: &Settings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let test = &recipe.tests[index];
    let region = match test.span {
        Span::Area => Region { start: area.start, len: test.size.min(area.len) },
        Span::Device => Region { start: 0, len: test.size.min(target.info().bytes) },
    };
    if lacks_bytes(target, test, region) {
        observer.not_measured(index, NO_MORE_BYTES.to_owned());
        return Ok(());
    }
    if let Some(prepare) = test.prepare
        && settings.may_write
    {
        prepare::prepare(target, region, prepare, settings, observer)?;
    }
    for number in 0..test.discard_loops + test.loops {
        if number > test.discard_loops && settings.deadline.is_some_and(|d| target.now() >= d) {
            break;
        }
        if test.drop_caches
            && let Err(error) = target.drop_caches()
        {
            observer.caveat(index, Caveat::CachesKept { reason: error.to_string() });
        }
        observer.begin(step(test, index, number, region));
        let seed = mix(settings.seed ^ ((index as u64) << 32) ^ u64::from(number));
        let counted = number >= test.discard_loops;
        if test.name.op.writes() {
            let done = u64::from(number);
            // A test of fixed length takes what it needs; those by time share what is left.
            let fixed = test.limit.passes.is_some() || test.limit.bytes.is_some();
            let shares = if fixed { 1 } else { loops_that_write(&recipe.tests[index..]) - done };
            share_out(target, kept, shares);
            if target.allowance().is_some_and(|allowance| allowance.left() < test.name.pattern.block) {
                if number == 0 {
                    observer.not_measured(index, NO_MORE_BYTES.to_owned());
                }
                break;
            }
        }
        let this = Loop { test, region, seed, counted, settings };
        let pace = test.until.and_then(|_| observer.pace(index));
        let Looped { sample, cut, rationed } =
            this.run(target, pace, &mut |bytes, nanos| observer.progress(bytes, nanos))?;
        observer.sample(index, number, sample).map_err(RunError::Observer)?;
        for (cut, what) in [(cut, "the budget"), (rationed, "the limit of bytes to write (--max-write)")] {
            if cut {
                let text = format!("{what} cut this test short");
                observer.caveat(index, Caveat::Other { text });
            }
        }
    }
    target.caveats().into_iter().for_each(|caveat| observer.caveat(index, caveat));
    let last = index + 1 == recipe.tests.len();
    if last && !settings.more_follow { Ok(()) } else { rest(target, test.rest_s, settings, observer) }
}

fn step(test: &Test, index: usize, number: u32, region: Region) -> Step {
    let pattern = test.name.pattern;
    let in_a_pass = region.len / pattern.block * pattern.block;
    let threads = u64::from(pattern.threads);
    let shared = if test.sharing == cardscope_model::recipe::Sharing::Same { threads } else { 1 };
    let by_passes = test.limit.passes.map(|p| u64::from(p) * in_a_pass * shared);
    let by_bytes = test.limit.bytes.map(|b| b * threads);
    Step::Loop {
        test: index,
        index: number,
        bytes: [by_passes, by_bytes].into_iter().flatten().min(),
        seconds: test.limit.seconds.or(test.until.map(|u| u.max_s)),
    }
}

/// Rests in short pieces, so that Ctrl-C need not wait for the end.
fn rest(
    target: &mut dyn Target,
    seconds: f64,
    settings: &Settings<'_>,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let mut left = Duration::from_secs_f64(seconds);
    if !left.is_zero() {
        observer.begin(Step::Rest(seconds));
    }
    let whole = left;
    while !left.is_zero() {
        if settings.interrupt.raised() {
            return Err(TargetError::Interrupted.into());
        }
        let piece = left.min(Duration::from_nanos(NANOS_PER_S / 10));
        target.idle(piece);
        left -= piece;
        observer.progress(0, (whole - left).as_nanos() as Nanos);
    }
    Ok(())
}
