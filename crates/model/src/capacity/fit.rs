//! Fit of an image on cards, by exact bytes. Cards of one nominal capacity differ by hundreds of megabytes
//! (docs/reference/reports.md#sd-card-round-up), and an image of the largest is truncated on all others.

use super::{nominal_size, nominal_size_bytes};
use crate::finding::Finding;
use crate::report::{ExitStatus, ReportDocument};
use serde::{Deserialize, Serialize};

/// Share below the smallest listed card that stays free, because unlisted cards may be smaller.
const SAFETY_MARGIN: f64 = 0.01;
/// Partitions end on a multiple of this: an allocation unit of SDHC cards.
const PARTITION_STEP: u64 = 4 << 20;
/// Number of listed cards of a nominal capacity below which the usual deviation is that of all cards.
const MIN_CARDS_OF_SIZE: usize = 3;

/// Returns true if an image fits a card, and the bytes left, negative if bytes are missing.
pub fn fits_card(image_bytes: u64, card_bytes: u64) -> (bool, i64) {
    let spare = i128::from(card_bytes) - i128::from(image_bytes);
    (spare >= 0, i64::try_from(spare).unwrap_or(if spare < 0 { i64::MIN } else { i64::MAX }))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSize {
    pub card: String,
    pub bytes: u64,
    pub source: String,
}

/// Returns the cards in `capacities/known.toml`, smallest first. A test checks that the file can be read.
pub fn listed_cards() -> Vec<CardSize> {
    #[derive(Default, Deserialize)]
    struct KnownSize {
        known: Vec<(u64, String, String)>,
    }
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../capacities/known.toml"));
    let rows = toml::from_str::<KnownSize>(text).unwrap_or_default().known;
    rows.into_iter().map(|(bytes, card, source)| CardSize { card, bytes, source }).collect()
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardFit {
    #[serde(flatten)]
    pub card: CardSize,
    pub nominal: Option<String>,
    /// None if no size was requested.
    pub fits: Option<bool>,
    /// Bytes left, or missing if negative.
    pub spare_bytes: Option<i64>,
    /// True if the image does not fit, but would after truncation to its used part.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub fits_if_cut: bool,
}

/// Range of the cards of one nominal capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NominalCapacity {
    pub nominal: String,
    pub printed_bytes: u64,
    pub known: usize,
    pub smallest: Option<CardSize>,
    pub largest: Option<CardSize>,
    pub spread_bytes: u64,
    /// Largest end of a partition that fits every one of them.
    pub safe_partition_bytes: u64,
    pub safe_from: String,
    pub fits: Option<bool>,
}

/// Deviation of a card from its nominal size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrintFit {
    pub nominal: String,
    pub printed_bytes: u64,
    /// Missing bytes; negative if the card has more.
    pub lacks_bytes: i64,
    pub lacks_percent: f64,
    /// Least and most that listed cards lack, in percent.
    pub usual_percent: (f64, f64),
    pub usual: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    pub asked: Option<String>,
    pub asked_bytes: Option<u64>,
    /// End of the last byte of the image that is not zero.
    pub in_use_bytes: Option<u64>,
    pub partitions_end_bytes: Option<u64>,
    pub fits: Option<bool>,
    pub target: Option<CardFit>,
    pub print: Option<PrintFit>,
    pub cards: Vec<CardFit>,
    pub nominal: Vec<NominalCapacity>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
}

impl ReportDocument for FitReport {
    fn exit_status(&self) -> ExitStatus {
        ExitStatus::bad_if(self.fits == Some(false))
    }
}

pub fn printed_bytes(nominal: &str) -> Option<u64> {
    let (number, unit) = nominal.split_once(' ')?;
    let power = match unit {
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1000u64.pow(power))
}

pub fn check_card_fit(card: CardSize, asked: Option<u64>, needed: Option<u64>) -> CardFit {
    let (fits, spare_bytes) = asked.map(|asked| fits_card(asked, card.bytes)).unzip();
    let fits_if_cut = fits == Some(false) && needed.is_some_and(|needed| needed <= card.bytes);
    CardFit { nominal: nominal_size(card.bytes), fits, spare_bytes, fits_if_cut, card }
}

const FROM_OTHER_SIZES: &str =
    "no card of this size is known: smallest share of the printed capacity of any known card, less 1 %";

pub fn nominal_range(name: &str, cards: &[CardSize], asked: Option<u64>) -> Option<NominalCapacity> {
    let printed = printed_bytes(name)?;
    let has_name = |card: &&CardSize| nominal_size(card.bytes).as_deref() == Some(name);
    let mut of_it: Vec<&CardSize> = cards.iter().filter(has_name).collect();
    of_it.sort_by_key(|card| card.bytes);
    let (smallest, largest) = (of_it.first().copied(), of_it.last().copied());
    let least_share = || cards.iter().filter_map(nominal_share).fold(1.0, f64::min);
    let (least, safe_from) = match smallest {
        Some(smallest) => (smallest.bytes, format!("smallest of {} known cards, less 1 %", of_it.len())),
        None => ((printed as f64 * least_share()) as u64, FROM_OTHER_SIZES.to_owned()),
    };
    let safe = (least as f64 * (1.0 - SAFETY_MARGIN)) as u64;
    Some(NominalCapacity {
        nominal: name.to_owned(),
        printed_bytes: printed,
        known: of_it.len(),
        smallest: smallest.cloned(),
        largest: largest.cloned(),
        spread_bytes: largest.zip(smallest).map_or(0, |(l, s)| l.bytes - s.bytes),
        safe_partition_bytes: safe - safe % PARTITION_STEP,
        safe_from,
        fits: asked.zip(smallest).map(|(asked, smallest)| asked <= smallest.bytes),
    })
}

fn nominal_share(card: &CardSize) -> Option<f64> {
    Some(card.bytes as f64 / nominal_size_bytes(card.bytes)?)
}

/// Compares a card's deviation from its nominal size with that of listed cards.
pub fn compare_with_print(bytes: u64, cards: &[CardSize]) -> Option<PrintFit> {
    let name = nominal_size(bytes)?;
    let printed = printed_bytes(&name)?;
    let lacks_bytes = i64::try_from(i128::from(printed) - i128::from(bytes)).ok()?;
    let percent = |lacks: f64| lacks * 100.0;
    let lacks = |card: &CardSize| nominal_share(card).map(|share| percent(1.0 - share));
    let has_name = |card: &&CardSize| nominal_size(card.bytes).as_deref() == Some(&name);
    let alike: Vec<f64> = cards.iter().filter(has_name).filter_map(lacks).collect();
    let all = || cards.iter().filter_map(lacks).collect();
    let others: Vec<f64> = if alike.len() >= MIN_CARDS_OF_SIZE { alike } else { all() };
    let least = others.iter().copied().fold(f64::INFINITY, f64::min);
    let usual_percent = (least, others.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    let lacks_percent = percent(lacks_bytes as f64 / printed as f64);
    Some(PrintFit {
        nominal: name,
        printed_bytes: printed,
        lacks_bytes,
        lacks_percent,
        usual_percent,
        // The tolerance covers the last digit of the division.
        usual: lacks_percent <= usual_percent.1 + 1e-6,
    })
}

pub fn nominal_sizes(cards: &[CardSize]) -> Vec<String> {
    let mut names: Vec<String> = cards.iter().filter_map(|card| nominal_size(card.bytes)).collect();
    names.sort_by_key(|name| printed_bytes(name));
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_of_larger_32_gb_card_does_not_fit_smaller_one() {
        // docs/reference/reports.md#sd-card-round-up: 31,393,316,864 and 32,107,397,120 bytes, 681 MiB apart.
        let cards = listed_cards();
        let bytes = |name: &str| cards.iter().find(|c| c.card == name).unwrap().bytes;
        let (samsung, patriot) = (bytes("Samsung class 10 32 GB"), bytes("Patriot LX 32 GB"));
        assert_eq!((patriot - samsung) >> 20, 681);
        assert_eq!(fits_card(patriot, samsung), (false, -714_080_256));
    }

    #[test]
    fn safe_partition_fits_every_listed_card_and_is_aligned() {
        let cards = listed_cards();
        let n = nominal_range("32 GB", &cards, Some(31_393_316_864)).unwrap();
        assert_eq!(n.smallest.unwrap().bytes, 31_267_487_744);
        assert_eq!(n.largest.unwrap().bytes, 32_107_397_120);
        assert_eq!(n.safe_partition_bytes % (4 << 20), 0);
        // 31,267,487,744 less 1 % is 30,954,812,866, rounded down to a multiple of 4 MiB.
        assert!((0..4 << 20).contains(&(30_954_812_866 - n.safe_partition_bytes as i64)));
        assert_eq!(n.fits, Some(false), "an image of Samsung's size is cut off on Gigastone's");
    }

    #[test]
    fn unlisted_nominal_size_uses_smallest_known_share() {
        let n = nominal_range("2 TB", &listed_cards(), None).unwrap();
        assert_eq!((n.known, n.printed_bytes), (0, 2_000_000_000_000));
        let share = n.safe_partition_bytes as f64 / 2e12;
        assert!((0.94..0.97).contains(&share), "{share}");
    }

    #[test]
    fn deviation_within_listed_cards_is_usual() {
        // docs/reference/reports.md#sd-card-round-up: 125,342,580,736 bytes.
        let fit = compare_with_print(125_342_580_736, &listed_cards()).unwrap();
        assert_eq!((fit.nominal.as_str(), fit.lacks_bytes), ("128 GB", 2_657_419_264));
        assert!((fit.lacks_percent - 2.076).abs() < 0.001);
        assert!(fit.usual);
        assert!(!compare_with_print(118_000_000_000, &listed_cards()).unwrap().usual);
    }

    #[test]
    fn listed_cards_are_sorted_and_near_a_nominal_size() {
        let cards = listed_cards();
        assert!(cards.len() > 60 && cards.is_sorted_by_key(|known| known.bytes));
        for known in cards {
            assert!(known.bytes.is_multiple_of(512) && nominal_size(known.bytes).is_some(), "{known:?}");
        }
    }
}
