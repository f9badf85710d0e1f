//! Printed speeds and x ratings: against each other, against the printed bus, against what was measured.
//!
//! "Up to" is a maximum under the maker's conditions, so only a card that stays far below in every run contradicts it,
//! and only where reader and bus would have let it through.

use super::seen::Seen;
use crate::finding::{Finding, Weight};
use cardscope_sd::label::{Direction, Label, PrintedBus, PrintedSpeed};

const CLAIM: &str = "label-speed";

/// From here on a printed speed counts as reached: a bus leaves some of it to its own overhead.
const REACHED: f64 = 0.8;
/// Below, a run is far from it.
const FAR_BELOW: f64 = 0.5;
/// So many runs make "every run".
const RUNS: usize = 3;
/// Two printed figures for the same thing may be rounded apart by this share.
const ROUNDED: f64 = 0.1;

pub(super) fn judge(label: &Label, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
    findings.extend(against_each_other(label));
    findings.extend(beyond_bus(label));
    findings.extend(label.speeds.iter().filter_map(|speed| against_runs(speed, seen)));
}

/// `633x` beside `200 MB/s`: the rating says 95 MB/s.
fn against_each_other(label: &Label) -> Option<Finding> {
    let rating = label.speeds.iter().find(|s| s.printed.ends_with('x'))?;
    let reading = |s: &&PrintedSpeed| !s.printed.ends_with('x') && s.direction != Some(Direction::Write);
    let printed = label.speeds.iter().find(reading)?;
    let apart = (rating.mb_s - printed.mb_s).abs() > ROUNDED * rating.mb_s.max(printed.mb_s);
    apart.then(|| {
        Finding::new(
            CLAIM,
            Weight::Hint,
            0.6,
            format!(
                "{} is {:.0} MB/s, but {} is printed beside it.",
                rating.printed, rating.mb_s, printed.printed
            ),
        )
        .because("rating", &rating.printed)
        .because("speed", &printed.printed)
    })
}

fn beyond_bus(label: &Label) -> Option<Finding> {
    let carries = label.buses.iter().map(|bus| bus.ceiling_mb_s()).reduce(f64::max)?;
    let fastest = label.speeds.iter().max_by(|a, b| a.mb_s.total_cmp(&b.mb_s))?;
    let fastest_bus = label.buses.iter().max()?;
    let own_mode = match fastest_bus {
        PrintedBus::UhsI => {
            "; makers reach up to 208 MB/s with a mode of their own (DDR200), which needs their reader"
        }
        _ => "",
    };
    (fastest.mb_s > carries).then(|| {
        Finding::new(
            CLAIM,
            Weight::Note,
            0.9,
            format!(
                "The printed {} is more than {fastest_bus} carries ({carries} MB/s){own_mode}.",
                fastest.printed
            ),
        )
        .because("printed", &fastest.printed)
        .because("bus", fastest_bus)
    })
}

fn against_runs(speed: &PrintedSpeed, seen: &Seen<'_>) -> Option<Finding> {
    let (word, runs) = match speed.direction {
        Some(Direction::Write) => ("writing", &seen.measured.write_mb_s),
        Some(Direction::Read) | None => ("reading", &seen.measured.read_mb_s),
    };
    let best = runs.iter().copied().reduce(f64::max)?;
    let ceiling = seen.measured.ceiling_mb_s;
    if let Some(ceiling) = ceiling.filter(|ceiling| *ceiling < speed.mb_s && best < REACHED * speed.mb_s) {
        let text = format!(
            "The printed {} cannot be tested here: reader and bus carry {ceiling:.0} MB/s, and {word} reached {best:.1} MB/s.",
            speed.printed
        );
        return Some(evidence(Finding::new(CLAIM, Weight::Note, 1.0, text), speed, runs));
    }
    let percent = 100.0 * best / speed.mb_s.max(f64::MIN_POSITIVE);
    let text = format!(
        "The label promises {}, and {word} reached {best:.1} MB/s at best ({percent:.0} %).",
        speed.printed
    );
    let proven = runs.len() >= RUNS && ceiling.is_some();
    let (weight, confidence) = match best / speed.mb_s.max(f64::MIN_POSITIVE) {
        share if share >= REACHED => (Weight::Note, 1.0),
        share if share < FAR_BELOW && proven => (Weight::Bad, 0.8),
        share if share < FAR_BELOW => (Weight::Hint, 0.5),
        _ => (Weight::Hint, 0.3),
    };
    let found = evidence(Finding::new(CLAIM, weight, confidence, text), speed, runs);
    Some(match weight {
        Weight::Hint => found.advise("\"Up to\" is a maximum: test more than once, in a reader that is fast enough, before you complain."),
        _ => found,
    })
}

fn evidence(finding: Finding, speed: &PrintedSpeed, runs: &[f64]) -> Finding {
    let figures: Vec<String> = runs.iter().take(10).map(|mb_s| format!("{mb_s:.1}")).collect();
    finding
        .because("printed", format!("{} = {:.1} MB/s", speed.printed, speed.mb_s))
        .because("runs in MB/s", figures.join(" "))
}
