//! How marks are judged, and how the card is cut for it.

use crate::context::{Context, Limits};
use cardscope_model::identity::Identity;
use cardscope_model::judged_mark::{BusFacts, Claim, ClaimedBy, MarksMeasured, claims};
use cardscope_model::units::{GIB, MIB};
use cardscope_sd::label::Label;

/// The specification's test area (RPTU), taken as MiB.
pub const TEST_AREA: u64 = 256 * MIB;

/// Taken for the allocation unit where nobody tells one: that of nearly all SDHC cards, and a part of every larger one.
const USUAL_UNIT: u64 = 4 * MIB;

/// What a card without a stated speed unit is judged by: 8 MiB is the one that most units are multiples of.
const USUAL_SPEED_UNIT: u64 = 8 * MIB;

/// How marks are judged.
#[derive(Debug, Clone)]
pub struct Options {
    /// What may be used and spent.
    pub limits: Limits,
    /// True where offsets are the card's own addresses; in a file they are the file system's, and where its allocation
    /// units begin is not known.
    pub card_addresses: bool,
    /// Allocation unit in bytes, as the card states it or as a map found it.
    pub unit: Option<u64>,
    /// Where that is from: `SSR`, `map`.
    pub unit_from: String,
    /// Speed unit of the video classes in bytes, where the card states one.
    pub speed_unit: Option<u64>,
    /// Marks that somebody claims.
    pub claimed: Vec<Claim>,
    /// The way between host and card.
    pub bus: BusFacts,
    /// Speed of the card's own copying as its SSR states it (PERFORMANCE_MOVE), in MB/s.
    pub stated_move_mb_s: Option<f64>,
    /// Speed after the end of the cache in MB/s, where a map found it.
    pub after_cache_mb_s: Option<f64>,
    /// True where the volumes of the specification may be written, because content may go: 1 GiB of sustained writing,
    /// 256 MiB in order before random writes are timed, small writes at the start of the card, where a file system has
    /// its tables.
    pub thorough: bool,
    /// Spans of random I/O in bytes besides the whole card; the test area of 256 MiB decides.
    pub spans: Vec<u64>,
}

impl Options {
    /// What follows from a card's identity and its label; the rest as it is usual.
    pub fn of(
        limits: Limits,
        identity: Option<&Identity>,
        label: Option<&Label>,
        ceiling_mb_s: Option<f64>,
    ) -> Self {
        let ssr = identity.and_then(|i| i.ssr.as_ref()).filter(|ssr| ssr.blank.is_none());
        let unit = identity.and_then(Identity::allocation_unit);
        Options {
            limits,
            card_addresses: true,
            unit: unit.as_ref().map(|unit| unit.bytes),
            unit_from: unit.map_or(String::new(), |unit| unit.source.to_owned()),
            speed_unit: ssr.and_then(|ssr| ssr.su_size_bytes),
            claimed: claims(identity, label),
            bus: BusFacts::of(identity, ceiling_mb_s),
            // 0 says that only writing in order is promised, 255 that moves cost nothing.
            stated_move_mb_s: ssr
                .map(|ssr| ssr.performance_move)
                .filter(|m| (1..255).contains(m))
                .map(f64::from),
            after_cache_mb_s: None,
            thorough: false,
            spans: vec![64 * MIB, TEST_AREA],
        }
    }

    /// Whether somebody claims a mark of this letter.
    pub(super) fn claims(&self, letter: char) -> bool {
        self.claimed.iter().any(|claim| claim.mark.letter() == letter)
    }

    pub(super) fn claimed_by(&self, mark: cardscope_sd::mark::Mark) -> Vec<ClaimedBy> {
        self.claimed.iter().filter(|claim| claim.mark == mark).map(|claim| claim.by).collect()
    }
}

/// What all parts share: how the card is cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Allocation unit.
    pub(super) unit: u64,
    /// Stretch by which video classes are judged.
    pub(super) speed_unit: u64,
    /// Written in one go: whole units, and at least a speed unit.
    pub(super) stretch: u64,
    /// What counts as the card's own boundary: units are counted from here.
    pub(super) origin: u64,
}

/// How the card is cut; `None` where there is no room for a single stretch.
pub(super) fn cut(context: &Context<'_, '_>, options: &Options, into: &mut MarksMeasured) -> Option<Cut> {
    let stated = options.unit.filter(|unit| *unit >= MIB / 64);
    let unit = stated.unwrap_or(USUAL_UNIT);
    into.au_bytes = unit;
    into.au_from = match stated {
        Some(_) => options.unit_from.clone(),
        None => "usual, since nobody states one".to_owned(),
    };
    let speed_unit = options.speed_unit.unwrap_or(USUAL_SPEED_UNIT);
    let stretch = speed_unit.div_ceil(unit) * unit;
    let origin = if options.card_addresses { 0 } else { context.region.start };
    let first = (context.region.start - origin).div_ceil(unit) * unit + origin;
    if first + 2 * stretch > context.region.end() {
        into.left_out.push(format!(
            "everything: {} bytes may be used, and a stretch of whole allocation units with one beside it needs {}",
            context.region.len,
            2 * stretch
        ));
        return None;
    }
    Some(Cut { unit, speed_unit, stretch, origin })
}

impl Cut {
    /// A random place for `bytes` that begins with a unit.
    pub(super) fn place(&self, context: &mut Context<'_, '_>, bytes: u64) -> u64 {
        let first = (context.region.start - self.origin).div_ceil(self.unit);
        let last = (context.region.end() - self.origin - bytes) / self.unit;
        let units = last.saturating_sub(first) + 1;
        self.origin + (first + context.random.below(units)) * self.unit
    }
}

/// The capacity families, which differ in the unit of recording (Physical Layer Specification 4.13.1, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Up to 2 GB.
    Standard,
    /// Up to 32 GB.
    High,
    /// Above.
    Extended,
}

impl Family {
    pub(super) fn of(bytes: u64) -> Family {
        match bytes {
            b if b <= 2 * GIB => Family::Standard,
            b if b <= 32 * GIB => Family::High,
            _ => Family::Extended,
        }
    }
}
