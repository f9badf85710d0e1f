//! Causes of a wrong capacity other than a forged card: readers that cut, add or drop a part of it, and controllers
//! that lost their flash. Reports of each: `docs/verify.md`.

use super::{READER_LIMITS, Verdict};
use crate::capacity::fit::listed_cards;
use crate::capacity::nominal_size_bytes;
use crate::finding::{Finding, FindingWeight};
use crate::units::{BinarySize, DecimalSize, GIB, MIB};
use serde::{Deserialize, Serialize};

worded! {
    /// Source of a capacity other than the host's.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SizeSource: words {
        Csd = "its CSD",
        EarlierTest = "an earlier test",
        Label = "its label",
        KnownSizes = "the sizes of real cards",
    }
}

/// Capacities of one card by source, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedSizes {
    /// Capacity according to the reader; None if only a part of the card is open.
    pub host_bytes: Option<u64>,
    pub csd_bytes: Option<u64>,
    pub earlier_bytes: Option<u64>,
    pub printed_bytes: Option<u64>,
    pub partitions_end_bytes: Option<u64>,
}

/// Cause of a wrong capacity that is not a forgery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum CapacityCause {
    /// The reader cannot address more.
    AddressLimit { limit_bytes: u64 },
    /// The reader reports more sectors than the card has; only the last ones fail.
    ExtraSectors { extra_bytes: u64 },
    /// The reader drops high bits of the capacity.
    DroppedBits { card_bytes: u64, known_from: SizeSource },
    /// The reader reports more than the card has, and everything beyond fails.
    ExcessCapacity {
        card_bytes: u64,
        /// None if the size is merely a common one.
        known_from: Option<SizeSource>,
    },
    /// The controller has lost its flash and shows its own memory.
    LostFlash { card_bytes: u64, known_from: SizeSource },
}

/// Sizes that controllers without flash report (30 to 32 MB, 32 MiB at most).
const CONTROLLER_ONLY: std::ops::RangeInclusive<u64> = 30_000_000..=32 * MIB;

/// Ratio from which the card's real size cannot be that of the controller's memory.
const FAR_LARGER: u64 = 8;

/// Smallest size that is compared with listed cards. Smaller ones are often images or partitions, and match some card
/// by chance.
const MIN_COMPARED_BYTES: u64 = 1_000_000_000;

/// Most bytes that a reader adds: one of the longest sectors in use.
const MAX_EXTRA_BYTES: u64 = 4096;

/// Tolerance between the measured end of a card and its CSD, because a flash block may fail at the end. A card that
/// ends earlier lacks announced capacity, whatever the reader adds.
const END_TOLERANCE: u64 = 4 * MIB;

/// Shares of a printed size that cards have (docs/reference/sd.md#printed-sizes), with a margin.
const USUAL_SHARE: std::ops::RangeInclusive<f64> = 0.93..=1.08;
/// Share of a printed size that genuine cards have (docs/reference/sd.md#printed-sizes), without the margin of
/// [`USUAL_SHARE`]; for printed sizes that are only inferred.
const MEASURED_SHARE: std::ops::RangeInclusive<f64> = 0.968..=1.016;

impl CapacityCause {
    pub const CONFIDENCE: f64 = 0.95;

    /// Returns the kind of reader to try, as it precedes that word.
    pub fn reader_to_try(self) -> &'static str {
        match self {
            CapacityCause::AddressLimit { .. } => "a newer",
            _ => "another",
        }
    }

    pub fn verdict(self) -> Verdict {
        match self {
            CapacityCause::LostFlash { .. } => Verdict::Dead,
            _ => Verdict::ReaderSuspect,
        }
    }

    pub fn finding(self, stated: &StatedSizes) -> Finding {
        let shown = DecimalSize(stated.host_bytes.unwrap_or_default());
        let text = match self {
            CapacityCause::AddressLimit { limit_bytes } => {
                let limit = limit_text(limit_bytes);
                format!("The card ends exactly at {limit}, the address limit of some readers.")
            }
            CapacityCause::ExtraSectors { extra_bytes } => {
                format!("Only the last {extra_bytes} bytes fail: the reader counts one too many.")
            }
            CapacityCause::DroppedBits { card_bytes, known_from } => {
                let (card, source) = (DecimalSize(card_bytes), known_from.words());
                format!(
                    "The reader shows {shown} of {card}, known from {source}: it drops bits of the capacity."
                )
            }
            CapacityCause::ExcessCapacity { card_bytes, known_from } => {
                let source =
                    known_from.map_or(String::new(), |source| format!(" as {} says", source.words()));
                format!("The reader shows {shown}, but the card ends at {}{source}.", DecimalSize(card_bytes))
            }
            CapacityCause::LostFlash { card_bytes, known_from } => {
                let (card, source) = (DecimalSize(card_bytes), known_from.words());
                format!(
                    "The card of {card} (known from {source}) shows only {shown}: its controller no longer finds the flash."
                )
            }
        };
        let advice = match self {
            CapacityCause::LostFlash { .. } => "Discard it; only a recovery lab may get data from it.".into(),
            _ => format!("Try {} reader.", self.reader_to_try()),
        };
        let weight = if self.verdict().is_bad() { FindingWeight::Bad } else { FindingWeight::Hint };
        let finding = Finding::new("capacity-cause", weight, Self::CONFIDENCE, text);
        stated.rows().fold(finding, |finding, (what, bytes)| finding.because(what, bytes)).with_advice(advice)
    }
}

fn limit_text(bytes: u64) -> String {
    if bytes.is_multiple_of(GIB) { BinarySize(bytes).to_string() } else { DecimalSize(bytes).to_string() }
}

impl StatedSizes {
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
        let rows = [
            ("reader", self.host_bytes),
            ("CSD", self.csd_bytes),
            ("label", self.printed_bytes),
            ("earlier test", self.earlier_bytes),
            ("partitions end at", self.partitions_end_bytes),
        ];
        rows.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)))
    }

    /// Returns a hint if the reported size is typical for controllers without flash.
    pub fn controller_size_hint(&self) -> Option<Finding> {
        let bytes = self.host_bytes.filter(|bytes| CONTROLLER_ONLY.contains(bytes))?;
        if self.printed_bytes.is_some_and(|printed| is_usual_share(bytes, printed as f64)) {
            return None;
        }
        let size = DecimalSize(bytes);
        let text = format!("{size} is a size that controllers show which no longer find their flash.");
        let hint =
            Finding::new("controller-size", FindingWeight::Hint, 0.7, text).because("announced", bytes);
        Some(hint.with_advice("Give the printed size with --label: a larger card is dead."))
    }

    fn exact_sizes(&self) -> impl Iterator<Item = (u64, SizeSource)> + use<> {
        let sources = [(self.csd_bytes, SizeSource::Csd), (self.earlier_bytes, SizeSource::EarlierTest)];
        sources.into_iter().filter_map(|(bytes, source)| Some((bytes?, source)))
    }

    fn all_sizes(&self) -> impl Iterator<Item = (u64, SizeSource)> + use<> {
        self.exact_sizes().chain(self.printed_bytes.map(|bytes| (bytes, SizeSource::Label)))
    }

    pub(super) fn detect_lost_flash(&self) -> Option<CapacityCause> {
        let shown = self.host_bytes.filter(|bytes| CONTROLLER_ONLY.contains(bytes))?;
        let (card_bytes, known_from) = self.all_sizes().find(|(bytes, _)| *bytes >= FAR_LARGER * shown)?;
        Some(CapacityCause::LostFlash { card_bytes, known_from })
    }

    /// Returns the cause if less is reported than the card has, and all of that works.
    pub(super) fn detect_cut(&self) -> Option<CapacityCause> {
        let shown = self.host_bytes?;
        // Some readers report one sector less than they can address.
        let is_limit = |limit: &u64| (limit - MAX_EXTRA_BYTES..=*limit).contains(&shown);
        let limit_bytes = READER_LIMITS.into_iter().find(is_limit);
        let more = self.all_sizes().any(|(bytes, _)| (shown as f64) < *USUAL_SHARE.start() * bytes as f64);
        if let Some(limit_bytes) = limit_bytes.filter(|_| more) {
            return Some(CapacityCause::AddressLimit { limit_bytes });
        }
        let dropped = |card_bytes, known_from| CapacityCause::DroppedBits { card_bytes, known_from };
        if let Some((bytes, source)) = self.exact_sizes().find(|(bytes, _)| drops_bits(*bytes, shown)) {
            return Some(dropped(bytes, source));
        }
        let usual = nominal_size_bytes(shown).is_some_and(|printed| is_usual_share(shown, printed));
        if usual || self.exact_sizes().next().is_some() {
            return None;
        }
        let as_printed = |size| self.printed_bytes.is_none_or(|print| is_usual_share(size, print as f64));
        let mut known = listed_cards().into_iter().map(|card| card.bytes);
        let lacks_one_bit = |bytes: &u64| bytes.saturating_sub(shown).is_power_of_two() && as_printed(*bytes);
        if let Some(bytes) = known.find(lacks_one_bit).filter(|_| shown >= MIN_COMPARED_BYTES) {
            return Some(dropped(bytes, SizeSource::KnownSizes));
        }
        let printed = self.printed_bytes?;
        let restored = (MIB.ilog2()..u64::BITS - 1).map(|bit| shown.saturating_add(1 << bit));
        let mut fitting = restored.filter(|bytes| MEASURED_SHARE.contains(&(*bytes as f64 / printed as f64)));
        fitting.next().map(|bytes| dropped(bytes, SizeSource::Label))
    }

    /// Returns the cause if everything from `usable` on fails with an error, unlike on fakes.
    pub(super) fn detect_failing_end(&self, usable: u64) -> Option<CapacityCause> {
        let shown = self.host_bytes?;
        let extra_bytes = shown.checked_sub(usable)?;
        if extra_bytes <= MAX_EXTRA_BYTES {
            return Some(CapacityCause::ExtraSectors { extra_bytes });
        }
        if READER_LIMITS.contains(&usable) {
            return Some(CapacityCause::AddressLimit { limit_bytes: usable });
        }
        let nominal = nominal_size_bytes(usable).is_some_and(|size| is_usual_share(usable, size));
        let unknown = self.all_sizes().next().is_none() && nominal;
        let known = CapacityCause::ExcessCapacity { card_bytes: usable, known_from: None };
        self.detect_excess(usable).or_else(|| unknown.then_some(known))
    }

    /// Returns the cause if the card holds all that its sources promise, but the reader reports more.
    pub(super) fn detect_excess(&self, usable: u64) -> Option<CapacityCause> {
        let shown = self.host_bytes?;
        let is_exact = |source| matches!(source, SizeSource::Csd | SizeSource::EarlierTest);
        let agrees = |&(bytes, source): &(u64, SizeSource)| match is_exact(source) {
            true => usable.abs_diff(bytes) <= END_TOLERANCE,
            false => is_usual_share(usable, bytes as f64),
        };
        let is_exceeded = |&(bytes, source): &(u64, SizeSource)| match is_exact(source) {
            true => shown > bytes,
            false => shown as f64 / bytes as f64 > *USUAL_SHARE.end(),
        };
        let (_, source) = self.all_sizes().find(is_exceeded)?;
        let agree = self.all_sizes().all(|size| agrees(&size));
        agree.then_some(CapacityCause::ExcessCapacity { card_bytes: usable, known_from: Some(source) })
    }
}

fn is_usual_share(bytes: u64, printed: f64) -> bool {
    USUAL_SHARE.contains(&(bytes as f64 / printed))
}

/// True if a size results from dropping high bits of a card's size: a single bit, or all bits from one on.
fn drops_bits(card_bytes: u64, shown: u64) -> bool {
    let missing = card_bytes.saturating_sub(shown);
    let truncated = missing > 0 && missing.trailing_zeros() > shown.checked_ilog2().unwrap_or(u64::BITS);
    missing.is_power_of_two() || truncated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{TestMethod, Verification};

    const GB_64: u64 = 63_864_569_856;
    const GB_128: u64 = 127_865_454_592;

    fn found(verdict: Verdict, usable: u64, fails_beyond: bool) -> Verification {
        Verification {
            method: TestMethod::Quick,
            verdict,
            usable_bytes: Some(usable),
            fails_beyond,
            ..Default::default()
        }
    }

    fn whole(host: u64, stated: StatedSizes) -> Option<CapacityCause> {
        let stated = StatedSizes { host_bytes: Some(host), ..stated };
        found(Verdict::Genuine, host, false).capacity_cause(&stated)
    }

    fn printed(gb: u64) -> StatedSizes {
        StatedSizes { printed_bytes: Some(gb * 1_000_000_000), ..Default::default() }
    }

    #[test]
    fn dropped_bits_are_detected_by_csd_earlier_test_or_size() {
        let csd = StatedSizes { csd_bytes: Some(GB_64), ..Default::default() };
        let earlier = StatedSizes { earlier_bytes: Some(GB_128), ..Default::default() };
        for (stated, card_bytes, bit, known_from) in [
            (csd, GB_64, 35, SizeSource::Csd),
            (csd, GB_64, 30, SizeSource::Csd),
            (earlier, GB_128, 36, SizeSource::EarlierTest),
            (StatedSizes::default(), GB_64, 35, SizeSource::KnownSizes),
            (printed(64), GB_64, 35, SizeSource::KnownSizes),
            (printed(128), GB_128, 36, SizeSource::KnownSizes),
            // A card that is not listed.
            (printed(64), 122_112 << 19, 35, SizeSource::Label),
        ] {
            let cause = whole(card_bytes - (1 << bit), stated);
            assert_eq!(cause, Some(CapacityCause::DroppedBits { card_bytes, known_from }), "bit {bit}");
        }
        // All bits from one on are dropped: 128 GB in a reader with 32 GiB.
        assert!(matches!(whole(GB_128 % (1 << 35), earlier), Some(CapacityCause::DroppedBits { .. })));
    }

    #[test]
    fn reprinted_labels_get_no_reader_cause() {
        // 31.4 GB is a size of real cards, and 32 GiB more would be one of 64 GB.
        assert_eq!(whole(31_393_316_864, printed(64)), None);
        assert_eq!(whole(8_000_634_880, printed(64)), None);
        assert_eq!(whole(7_948_206_080, printed(16)), None);
        assert_eq!(whole(GB_64, printed(1000)), None);
        // The CSD agrees with the host.
        let csd = GB_64 - (1 << 35);
        assert_eq!(whole(csd, StatedSizes { csd_bytes: Some(csd), ..printed(64) }), None);
    }

    #[test]
    fn address_limit_needs_a_larger_stated_size() {
        for limit_bytes in READER_LIMITS {
            let gb = 2 * limit_bytes / 1_000_000_000;
            for shown in [limit_bytes, limit_bytes - 512] {
                let cause = whole(shown, printed(gb));
                assert_eq!(cause, Some(CapacityCause::AddressLimit { limit_bytes }), "{shown}");
                assert_eq!(whole(shown, StatedSizes::default()), None, "nothing says that more is there");
            }
        }
    }

    fn failing(host: u64, usable: u64, stated: StatedSizes) -> Option<CapacityCause> {
        let stated = StatedSizes { host_bytes: Some(host), ..stated };
        found(Verdict::Damaged, usable, true).capacity_cause(&stated)
    }

    #[test]
    fn errors_beyond_printed_size_are_excess_capacity() {
        let host = 1 << 41;
        let excess = |known_from| Some(CapacityCause::ExcessCapacity { card_bytes: GB_128, known_from });
        assert_eq!(failing(host, GB_128, printed(128)), excess(Some(SizeSource::Label)));
        assert_eq!(failing(host, GB_128, StatedSizes::default()), excess(None));
        assert_eq!(failing(host, GB_128, printed(2000)), None, "printed as announced: half of it is broken");
        assert_eq!(failing(host, 90_000_000_000, StatedSizes::default()), None);
        for extra_bytes in [512, 4096] {
            let cause = failing(GB_64 + extra_bytes, GB_64, printed(64));
            assert_eq!(cause, Some(CapacityCause::ExtraSectors { extra_bytes }));
        }
    }

    #[test]
    fn card_shorter_than_its_csd_gets_no_reader_cause() {
        let of = |missing: u64| {
            let csd_bytes = Some(GB_64);
            let stated = StatedSizes { host_bytes: Some(1 << 41), csd_bytes, ..Default::default() };
            found(Verdict::Limbo, GB_64 - missing, false).capacity_cause(&stated)
        };
        let source = Some(SizeSource::Csd);
        for missing in [0, 1 << 20] {
            let card_bytes = GB_64 - missing;
            let excess = CapacityCause::ExcessCapacity { card_bytes, known_from: source };
            assert_eq!(of(missing), Some(excess), "{missing}");
        }
        assert_eq!((of(GB_64 / 200), of(GB_64 / 20)), (None, None), "short of what it announces itself");
        let as_announced = StatedSizes { csd_bytes: Some(GB_64), ..printed(64) };
        for missing in [1 << 20, GB_64 / 20] {
            assert_eq!(failing(GB_64, GB_64 - missing, as_announced), None, "the reader shows no more");
        }
        let card_bytes = GB_64;
        let excess = CapacityCause::ExcessCapacity { card_bytes, known_from: source };
        assert_eq!(failing(GB_64 + (1 << 20), GB_64, as_announced), Some(excess), "a label is no finer");
    }

    #[test]
    fn silent_losses_are_excess_only_if_the_label_agrees() {
        let limbo = |printed_bytes: Option<u64>| {
            let stated = StatedSizes { host_bytes: Some(1 << 41), printed_bytes, ..Default::default() };
            found(Verdict::Limbo, GB_128, false).capacity_cause(&stated)
        };
        assert_eq!((limbo(None), limbo(Some(2_000_000_000_000))), (None, None));
        assert!(limbo(Some(128_000_000_000)).is_some());
    }

    #[test]
    fn small_sizes_of_larger_cards_are_dead_controllers() {
        for shown in [30_900_000, 31 * MIB, 32 * MIB] {
            for stated in [
                printed(64),
                StatedSizes { csd_bytes: Some(GB_64), ..Default::default() },
                StatedSizes { earlier_bytes: Some(GB_64), ..Default::default() },
            ] {
                let cause = whole(shown, stated).unwrap();
                assert_eq!(cause.verdict(), Verdict::Dead, "{shown} {stated:?}");
            }
            let alone = StatedSizes { host_bytes: Some(shown), ..Default::default() };
            assert_eq!(whole(shown, StatedSizes::default()), None);
            assert!(alone.controller_size_hint().is_some(), "{shown}");
            let as_printed = StatedSizes { printed_bytes: Some(32_000_000), ..alone };
            assert!(as_printed.controller_size_hint().is_none());
        }
        let larger = StatedSizes { host_bytes: Some(64_000_000), ..Default::default() };
        assert!(larger.controller_size_hint().is_none());
    }
}
