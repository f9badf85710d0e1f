//! A rig that gets hot instead of the card: the USB host controller of seed 003 (the VL805 of a Raspberry Pi 4), where
//! an SSD was "wildly inconsistent", 2 to 3 times slower without air. Reads have no cache that could end, so falling
//! reads on a USB path under long load point there, unless the card itself is known to be hot.

use super::table::{Session, large_in_order};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::series::Bucket;
use cardscope_model::statistics::median;
use cardscope_model::test_name::Op;

/// Load of less than this warms nothing that matters.
const LONG_S: f64 = 60.0;
/// A fall to less than this is more than noise.
const FALLEN: f64 = 0.7;
/// A command that needs no flash takes so much longer where the host is slow (`flash-behaviour` 4.1).
const NULL_RISE: f64 = 0.12;
/// A host that warmed up by so many K.
const HOST_RISE_K: f64 = 10.0;
/// A card at this temperature explains it by itself (TMT1 of the cards of seed 000 is 81 °C).
const CARD_HOT_C: f64 = 75.0;

/// A load on a USB path, start against end.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Load {
    /// Seconds of it.
    pub seconds: f64,
    /// Reading speed at its start, in MB/s.
    pub first_mb_s: f64,
    /// At its end.
    pub last_mb_s: f64,
    /// How much longer a command takes that needs no flash, as a share; where it was timed.
    pub null_rise: Option<f64>,
    /// How much warmer the host got, in K; where that is known.
    pub host_rise_k: Option<f64>,
    /// The card's own temperature at the end, in °C; where that is known.
    pub card_c: Option<f64>,
}

/// What a load on a USB path says about reader and host controller.
#[must_use]
pub fn hot_host(load: &Load) -> Option<Finding> {
    let fell = load.last_mb_s / load.first_mb_s;
    let card_is_hot = load.card_c.is_some_and(|c| c >= CARD_HOT_C);
    if load.seconds < LONG_S || !fell.is_finite() || fell >= FALLEN || card_is_hot {
        return None;
    }
    let null = load.null_rise.is_some_and(|rise| rise > NULL_RISE);
    let warm = load.host_rise_k.is_some_and(|rise| rise > HOST_RISE_K);
    let confidence = match (null, warm, load.card_c.is_some()) {
        (true, true, _) => 0.95,
        (true, false, _) | (false, true, _) => 0.85,
        (false, false, true) => 0.7,
        (false, false, false) => 0.5,
    };
    let text = format!(
        "reading over USB fell from {:.0} to {:.0} MB/s ({:.1} times slower) within {:.0} s: reader or USB host controller is hot, more likely than the card",
        load.first_mb_s,
        load.last_mb_s,
        1.0 / fell,
        load.seconds
    );
    let finding = Finding::new("hot-usb-host", Weight::Hint, confidence, text)
        .because("at the start", format!("{:.1} MB/s", load.first_mb_s))
        .because("at the end", format!("{:.1} MB/s", load.last_mb_s))
        .advise("Put a fan over reader and board (on a Raspberry Pi 4 the VL805 beside the USB 3 ports) and measure again.");
    let finding = load.null_rise.map_or(finding.clone(), |rise| {
        finding.because("a command without flash", format!("{:+.0} %", rise * 100.0))
    });
    let finding = load.host_rise_k.map_or(finding.clone(), |k| finding.because("host", format!("{k:+.0} K")));
    Some(load.card_c.map_or(finding.clone(), |c| finding.because("card", format!("{c:.0} °C"))))
}

/// The same from a session: reads in order, second by second, over all runs.
pub(super) fn of_session(session: &Session<'_>) -> Option<Finding> {
    let says =
        |word: &str| session.condition.get(word).is_some_and(|value| value.to_uppercase().contains("USB"));
    if !says("bus_mode") && !says("usb_host") && !says("reader") {
        return None;
    }
    let results: Vec<_> = session
        .runs
        .iter()
        .filter(|run| run.counted)
        .flat_map(|run| &run.results)
        .filter(|r| r.op == Op::Read && large_in_order(&r.name()))
        .collect();
    let busy: f64 = session.runs.iter().flat_map(|run| &run.results).map(|r| r.seconds).sum();
    // Each test is held against itself: the same test of the first run and of the last, or its own course.
    let name = results.first()?.name();
    let same: Vec<_> = results.into_iter().filter(|r| r.name() == name).collect();
    let course: Vec<Bucket> = same.iter().flat_map(|r| r.series.iter().copied()).collect();
    let (first, last) = ends(&course).or_else(|| Some((same.first()?.mb_s, same.last()?.mb_s)))?;
    let card_c = same.iter().filter_map(|r| r.temperature_c.max).reduce(f64::max);
    hot_host(&Load { seconds: busy, first_mb_s: first, last_mb_s: last, card_c, ..Load::default() })
}

/// Median speed of the first and the last fifth, of whole seconds; `None` for a short course.
fn ends(course: &[Bucket]) -> Option<(f64, f64)> {
    let speeds: Vec<f64> = course.iter().map(Bucket::mb_s).collect();
    let part = speeds.len() / 5;
    (part >= 3).then_some(())?;
    Some((median(&speeds[..part])?, median(&speeds[speeds.len() - part..])?))
}
