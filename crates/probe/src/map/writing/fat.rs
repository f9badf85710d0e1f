//! The region at the start of a card where the file allocation table lies: the same writes there and at places
//! elsewhere (flash-behaviour 3.5). It writes over partition table and file allocation table (saved first), and is only
//! done when asked for.

use super::bench::Bench;
use super::ground::START;
use crate::card::Piece;
use crate::trouble::Stop;
use cardscope_analysis::quantile::{median, median_deviation};
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::card_map::property::{Evidence, Property};

const MIB: u64 = 1 << 20;

/// Places elsewhere.
const REFERENCES: usize = 6;

/// Steps in which the start is looked at, and how far: the largest region known has 12 MiB, and one that reaches the
/// end of this is `at least` so large.
const STEP: u64 = MIB;
const REACH: u64 = 16 * MIB;

/// The writes of one place, in bytes: the first opens the block and is not counted, since the first block of a stream
/// is slow on many cards wherever it lies (flash-behaviour 6).
const WRITES: [u32; 9] = [64 << 10, 64 << 10, 64 << 10, 64 << 10, 64 << 10, 4096, 4096, 4096, 4096];

/// So many of them are large ones.
const LARGE: usize = 5;

/// Effects are 0.2 to 0.7 of the speed, or 4.6 times it; the spread elsewhere is below 5 %.
const LEAST: f64 = 1.25;

/// Compares the start with the rest.
pub(super) fn measure(bench: &mut Bench<'_, '_, '_>) -> Result<(), Stop> {
    if !bench.options.card_addresses {
        return Ok(());
    }
    if !bench.options.fat {
        bench.into.fat_region_bytes = Property::not_tested(
            "it writes over the first 16 MiB, partition table included (saved first); ask for it with --fat",
        );
        return Ok(());
    }
    if bench.site.region.start > 0 || bench.site.region.len < 2 * REACH {
        bench.into.fat_region_bytes = Property::not_tested("the start of the card may not be written to");
        return Ok(());
    }
    debug_assert_eq!(REACH, START, "what is left alone elsewhere is looked at here");
    let before = bench.site.spent();
    let Some(places) = bench.places(REFERENCES) else { return Ok(()) };
    let mut references = Vec::new();
    for place in places {
        bench.afford(1.0)?;
        references.extend(profile(bench, place)?);
    }
    let mut start = Vec::new();
    for position in (0..REACH).step_by(STEP as usize) {
        bench.afford(1.0)?;
        start.extend(profile(bench, position)?.map(|p| (position, p)));
    }
    let cost = bench.site.cost_since(before);
    if let Some(property) = conclude(&references, &start) {
        bench.into.fat_region_bytes = Property { evidence: property.evidence.clone().cost(cost), ..property };
    }
    Ok(())
}

/// Medians of large and of small writes at one place, as logarithms of seconds.
#[derive(Debug, Clone, Copy)]
struct Profile {
    large: f64,
    small: f64,
}

fn profile(bench: &mut Bench<'_, '_, '_>, place: u64) -> Result<Option<Profile>, Stop> {
    let pieces: Vec<Piece> = WRITES
        .iter()
        .scan(place, |at, len| {
            let offset = *at;
            *at += u64::from(*len);
            Some(Piece { offset, len: *len })
        })
        .collect();
    let times = bench.write_all(&pieces)?;
    if times.len() < WRITES.len() {
        return Ok(None);
    }
    let log = |times: &[f64]| median(times).filter(|t| *t > 0.0).map(f64::ln);
    Ok(log(&times[1..LARGE]).zip(log(&times[LARGE..])).map(|(large, small)| Profile { large, small }))
}

/// The first step that is as elsewhere, where those before it are not.
fn conclude(references: &[Profile], start: &[(u64, Profile)]) -> Option<Property<u64>> {
    let centre = |pick: fn(&Profile) -> f64| {
        let values: Vec<f64> = references.iter().map(pick).collect();
        let centre = median(&values)?;
        let spread = 1.4826 * median_deviation(&values, centre)?;
        Some((centre, (4.0 * spread.max(0.03)).max(LEAST.ln())))
    };
    let (large, small) = (centre(|p| p.large)?, centre(|p| p.small)?);
    let differs = |p: &Profile| (p.large - large.0).abs() > large.1 || (p.small - small.0).abs() > small.1;
    let special = start.iter().take_while(|(_, p)| differs(p)).count();
    let speed = |p: &Profile| (large.0 - p.large).exp();
    let inside: Vec<f64> = start[..special].iter().map(|(_, p)| speed(p)).collect();
    let evidence = Evidence::by(
        "the same writes of 64 and 4 KiB at each MiB of the first 16 MiB and at places elsewhere",
    )
    .number("places elsewhere", references.len() as f64, "")
    .number(
        "speed at the start against elsewhere, 64 KiB",
        median(&inside).unwrap_or(speed(&start.first()?.1)),
        "",
    )
    .plot(plot(start, large.0, special));
    Some(match special {
        0 => Property::none(0.97, evidence),
        n if n == start.len() => Property::at_least(REACH, 0.9, evidence),
        n => Property::measured(n as u64 * STEP, 0.97, evidence),
    })
}

fn plot(start: &[(u64, Profile)], elsewhere: f64, special: usize) -> Plot {
    let points = |pick: fn(&Profile) -> f64| {
        start.iter().map(|(at, p)| (*at as f64, 1e3 * pick(p).exp())).collect::<Vec<_>>()
    };
    let level = vec![(0.0, 1e3 * elsewhere.exp()), (REACH as f64, 1e3 * elsewhere.exp())];
    Plot {
        title: "the same writes over the start of the card".to_owned(),
        x: Axis::new("address", "bytes", Scale::Linear),
        y: Axis::new("median of a write", "ms", Scale::Linear),
        series: vec![
            Series { name: "64 KiB".to_owned(), points: points(|p| p.large) },
            Series { name: "4 KiB".to_owned(), points: points(|p| p.small) },
            Series { name: "64 KiB elsewhere".to_owned(), points: level },
        ],
        marks: (special > 0)
            .then(|| ((special as u64 * STEP) as f64, "end of the region".to_owned()))
            .into_iter()
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(special: usize) -> Vec<(u64, Profile)> {
        let at = |i: usize| Profile { large: if i < special { 0.7 } else { 0.0 }, small: 0.0 };
        (0..16).map(|i| (i as u64 * STEP, at(i))).collect()
    }

    #[test]
    fn the_region_ends_where_writes_are_as_elsewhere() {
        let elsewhere = [Profile { large: 0.0, small: 0.0 }; 6];
        assert_eq!(conclude(&elsewhere, &start(8)).unwrap().value, Some(8 * MIB));
        let whole = conclude(&elsewhere, &start(16)).unwrap();
        assert_eq!((whole.value, whole.bound), (None, Some(REACH)));
        let none = conclude(&elsewhere, &start(0)).unwrap();
        assert_eq!(none.status, cardscope_model::card_map::property::Status::None);
    }
}
