//! How marks are judged.

use cardscope_model::identity::Identity;
use cardscope_model::judged_mark::{BusFacts, ClaimedBy, MarkClaim, TestForm, claims};
use cardscope_model::units::MIB;
use cardscope_probing::context::ProbeLimits;
use cardscope_sd::label::CardLabel;

/// The specification's test area (RPTU), taken as MiB.
pub const TEST_AREA: u64 = 256 * MIB;

/// How marks are judged.
#[derive(Debug, Clone)]
pub struct MarkOptions {
    /// What may be used and spent.
    pub limits: ProbeLimits,
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
    pub claimed: Vec<MarkClaim>,
    /// The way between host and card.
    pub bus: BusFacts,
    /// Speed of the card's own copying as its SSR states it (PERFORMANCE_MOVE), in MB/s.
    pub stated_move_mb_s: Option<f64>,
    /// Speed after the end of the cache in MB/s, where a map found it.
    pub after_cache_mb_s: Option<f64>,
    /// How near to the specification's method it may come. Where content may go, its volumes are written: 1 GiB of
    /// sustained writing, 256 MiB in order before random writes are timed, small writes at the start of the card, where a
    /// file system has its tables.
    pub form: TestForm,
    /// Spans of random I/O in bytes besides the whole card; the test area of 256 MiB decides.
    pub spans: Vec<u64>,
}

impl MarkOptions {
    /// What follows from a card's identity and its label; the rest as it is usual.
    pub fn of(
        limits: ProbeLimits,
        identity: Option<&Identity>,
        label: Option<&CardLabel>,
        ceiling_mb_s: Option<f64>,
    ) -> Self {
        let ssr = identity.and_then(|i| i.ssr.as_ref()).filter(|ssr| ssr.blank.is_none());
        let unit = identity.and_then(Identity::allocation_unit);
        MarkOptions {
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
            form: TestForm::Short,
            spans: vec![64 * MIB, TEST_AREA],
        }
    }

    /// Whether content may go, so that more than a little may be written.
    pub(super) fn thorough(&self) -> bool {
        self.form != TestForm::Short
    }

    /// Whether somebody claims a mark of this letter.
    pub(super) fn claims(&self, letter: char) -> bool {
        self.claimed.iter().any(|claim| claim.mark.letter() == letter)
    }

    pub(super) fn claimed_by(&self, mark: cardscope_sd::mark::Mark) -> Vec<ClaimedBy> {
        self.claimed.iter().filter(|claim| claim.mark == mark).map(|claim| claim.by).collect()
    }
}
