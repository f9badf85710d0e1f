//! Decides whether reader and bus give a mark a chance: a figure below the demand counts against the card only if they
//! would have let more through. Modes and ceilings: docs/reference/sd.md#bus-modes, docs/reference/sd.md#marks.

use cardscope_model::mark_result::{ImpliedBus, MarkClaim, MarksMeasured};
use cardscope_model::units::SpeedMbS;
use cardscope_sd::label::PrintedBus;
use cardscope_sd::mark::Mark;

/// Share of a bus's line rate that is left for data.
const USABLE: f64 = 0.85;
/// Reads must be this many times faster than a mark's writes to show that the bus does not limit them.
const READ_MARGIN: f64 = 1.2;
/// Tolerance for clocks and rounding, as in `statistics::ceiling`.
const TOLERANCE: f64 = 1.02;
/// Speed of vendor modes over UHS-I (DDR200) in MB/s. Faster cards use UHS-II.
const OWN_MODE_MB_S: f64 = 208.0;

/// Modes from slow to fast: name, line rate in MB/s, family.
const BUS_MODES: [(&str, f64, &str); 10] = [
    ("Default Speed", 12.5, "Default Speed"),
    ("High Speed", 25.0, "High Speed"),
    ("SDR50 or DDR50", 50.0, "UHS-I"),
    ("SDR104", 104.0, "UHS-I"),
    ("vendor mode (DDR200)", OWN_MODE_MB_S, "UHS-I"),
    ("UHS-II HD312", 312.0, "UHS-II"),
    ("UHS-III FD624", 624.0, "UHS-III"),
    ("PCIe 3.0 x1", 985.0, EXPRESS),
    ("PCIe 3.0 x2 or 4.0 x1", 1969.0, EXPRESS),
    ("PCIe 4.0 x2", 3938.0, EXPRESS),
];

const EXPRESS: &str = "SD Express";

/// Modes in which no UHS mark is promised.
const SLOW_MODES: [&str; 4] = ["Default Speed", "High Speed", "SDR12", "SDR25"];

/// Slowest standard mode that carries the fastest measured speed; `None` if no mode does.
pub(super) fn implied_bus(found: &MarksMeasured) -> Option<ImpliedBus> {
    let writes = found.writing.iter().map(|w| w.mb_s);
    let streams = found.streams.iter().map(|s| s.mb_s);
    let fastest = found.read_mb_s.into_iter().chain(writes).chain(streams).reduce(f64::max)?;
    let could_be = |family: &str| !found.bus.pcie || family == EXPRESS;
    let carries = |(_, mb_s, family): &&(&str, f64, &str)| could_be(family) && fastest <= mb_s * TOLERANCE;
    let (mode, ceiling_mb_s, family) = *BUS_MODES.iter().find(carries)?;
    let claimed = claimed_mb_s(&found.claims);
    Some(ImpliedBus {
        mb_s: fastest,
        mode: mode.to_owned(),
        ceiling_mb_s,
        family: family.to_owned(),
        above_claim: !found.bus.pcie
            && claimed.is_some_and(|claimed| fastest > claimed * TOLERANCE && claimed < 50.0),
    })
}

/// Speed in MB/s of the fastest bus that the claimed marks imply; `None` if no mark is claimed.
fn claimed_mb_s(claims: &[MarkClaim]) -> Option<f64> {
    let of = |mark: Mark| match mark.letter() {
        'C' => 25.0,
        'E' => 985.0,
        'V' if mark.number() >= 60 => PrintedBus::UhsII.ceiling_mb_s(),
        'V' if mark.number() <= 10 => 25.0,
        _ => PrintedBus::UhsI.ceiling_mb_s(),
    };
    claims.iter().map(|claim| of(claim.mark)).reduce(f64::max)
}

/// Reason why a figure below the demand says nothing about the card; `None` if the bus allowed enough.
pub(super) fn hidden_reason(found: &MarksMeasured, mark: Mark, demand_mb_s: f64) -> Option<String> {
    let mode = found.bus.mode.as_deref();
    if let Some(mode) = mode.filter(|mode| needs_uhs(mark) && SLOW_MODES.contains(mode)) {
        return Some(format!("the bus runs in {mode} mode, and {mark} needs {}", mark.demand().bus));
    }
    if let Some(carries) = found.bus.ceiling_mb_s.filter(|carries| carries * USABLE < demand_mb_s) {
        let mode = mode.map_or(String::new(), |mode| format!(" ({mode})"));
        let (carries, needs) = (SpeedMbS(carries), SpeedMbS(demand_mb_s));
        return Some(format!("the bus{mode} carries at most {carries}, and {mark} needs {needs}"));
    }
    if needs_uhs_ii(mark) && !speaks_uhs_ii(found) {
        return Some(format!("{mark} needs {}, which this bus may not be", mark.demand().bus));
    }
    if mode.is_some() && !found.bus.reader {
        return None;
    }
    let Some(read) = found.read_mb_s else {
        return Some("the speed of reader and bus is unknown".to_owned());
    };
    let why = "so the reader or bus may be the limit; try a faster reader";
    (read < READ_MARGIN * demand_mb_s).then(|| format!("reads reach only {}, {why}", SpeedMbS(read)))
}

/// Reason why a mark does not apply at all, such as a bus that it needs and the card does not have.
pub(super) fn missing_requirement(found: &MarksMeasured, mark: Mark) -> Option<String> {
    let claimed = found.claims.iter().any(|claim| claim.mark == mark);
    if mark.letter() == 'E' {
        let how = found.bus.mode.clone().unwrap_or_else(|| "another bus".to_owned());
        return (!found.bus.pcie)
            .then(|| format!("{mark} needs {}, and the card is connected over {how}", mark.demand().bus));
    }
    if claimed || found.bus.pcie {
        return None;
    }
    if needs_uhs_ii(mark) && !speaks_uhs_ii(found) {
        return Some("it is a UHS-II mark, and the card may not be UHS-II".to_owned());
    }
    (needs_uhs(mark) && !speaks_uhs(found))
        .then(|| "it is a UHS mark, and the card may not be UHS".to_owned())
}

fn needs_uhs(mark: Mark) -> bool {
    matches!(mark.letter(), 'U' | 'A') || mark.letter() == 'V' && mark.number() >= 30
}

fn needs_uhs_ii(mark: Mark) -> bool {
    mark.letter() == 'V' && mark.number() >= 60
}

fn speaks_uhs(found: &MarksMeasured) -> bool {
    let mode = found.bus.mode.as_deref().unwrap_or_default();
    let by_mode = mode.starts_with("SDR") || mode.starts_with("DDR");
    let by_claim = found.claims.iter().any(|claim| needs_uhs(claim.mark));
    let by_speed = found.read_mb_s.is_some_and(|read| read > 25.0 * TOLERANCE);
    by_mode && !SLOW_MODES.contains(&mode) || by_claim || by_speed || speaks_uhs_ii(found)
}

fn speaks_uhs_ii(found: &MarksMeasured) -> bool {
    let by_mode = found.bus.mode.as_deref().is_some_and(|mode| mode.starts_with("UHS-II"));
    let by_claim = found.claims.iter().any(|claim| needs_uhs_ii(claim.mark));
    let by_speed = found.read_mb_s.is_some_and(|read| read > OWN_MODE_MB_S * TOLERANCE);
    by_mode || by_claim || by_speed
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::mark_result::ClaimedBy;

    fn mark(text: &str) -> Mark {
        text.parse().unwrap()
    }

    fn reading(mb_s: f64, claims: &[&str]) -> MarksMeasured {
        let claim = |text: &&str| MarkClaim { mark: mark(text), by: ClaimedBy::Card };
        MarksMeasured {
            read_mb_s: Some(mb_s),
            claims: claims.iter().map(claim).collect(),
            ..MarksMeasured::default()
        }
    }

    #[test]
    fn class_4_card_reading_40_mb_s_uses_uhs() {
        let bus = implied_bus(&reading(40.0, &["C4"])).unwrap();
        assert_eq!((bus.family.as_str(), bus.above_claim), ("UHS-I", true));
        let bus = implied_bus(&reading(22.0, &["C4"])).unwrap();
        assert_eq!((bus.mode.as_str(), bus.above_claim), ("High Speed", false));
        // A card that claims U1 is a UHS card, so the speed implies nothing new.
        assert!(!implied_bus(&reading(40.0, &["C10", "U1"])).unwrap().above_claim);
    }

    #[test]
    fn slow_bus_hides_the_mark() {
        let mut found = reading(22.0, &["U3"]);
        found.bus.ceiling_mb_s = Some(25.0);
        let why = hidden_reason(&found, mark("U3"), 30.0).unwrap();
        assert!(why.contains("25.0 MB/s"), "{why}");
        found.bus = Default::default();
        found.read_mb_s = Some(90.0);
        assert_eq!(hidden_reason(&found, mark("U3"), 30.0), None);
    }

    #[test]
    fn pcie_card_gets_the_slowest_sufficient_mode() {
        let mode = |mb_s: f64| {
            let mut found = reading(mb_s, &["E150"]);
            found.bus.pcie = true;
            implied_bus(&found).map(|bus| (bus.mode, bus.ceiling_mb_s))
        };
        assert_eq!(mode(90.0), Some(("PCIe 3.0 x1".to_owned(), 985.0)));
        assert_eq!(mode(1500.0), Some(("PCIe 3.0 x2 or 4.0 x1".to_owned(), 1969.0)));
        assert_eq!(mode(3200.0), Some(("PCIe 4.0 x2".to_owned(), 3938.0)));
        assert_eq!(mode(7000.0), None);
    }

    #[test]
    fn unknown_bus_and_read_speed_hide_a_miss() {
        let unknown = MarksMeasured::default();
        assert!(hidden_reason(&unknown, mark("C10"), 10.0).is_some_and(|why| why.contains("unknown")));
        let mut known = MarksMeasured::default();
        known.bus.mode = Some("SDR104".to_owned());
        assert_eq!(hidden_reason(&known, mark("C10"), 10.0), None);
    }

    #[test]
    fn express_card_in_uhs_reader_is_not_testable() {
        let mut found = reading(90.0, &["E300"]);
        found.bus.mode = Some("SDR104".to_owned());
        assert!(missing_requirement(&found, mark("E300")).unwrap().contains("SDR104"));
    }
}
