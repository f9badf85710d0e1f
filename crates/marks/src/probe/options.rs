//! Options of testing marks.

use cardscope_model::identity::Identity;
use cardscope_model::mark_result::{BusFacts, ClaimedBy, MarkClaim, TestForm, collect_claims};
use cardscope_model::units::MIB;
use cardscope_probing::context::ProbeLimits;
use cardscope_sd::label::CardLabel;

/// Test area of the specification (RPTU), read as MiB.
pub const TEST_AREA: u64 = 256 * MIB;

#[derive(Debug, Clone)]
pub struct MarkOptions {
    /// Region, seed, time and writes allowed.
    pub limits: ProbeLimits,
    /// True if offsets are the card's own addresses. In a file the position of its allocation units is unknown.
    pub card_addresses: bool,
    /// Allocation unit in bytes, as the card states it or `map` measured it.
    pub unit: Option<u64>,
    /// Source of `unit`: `SSR`, `map`.
    pub unit_from: String,
    /// Speed unit of the video classes in bytes, if stated.
    pub speed_unit: Option<u64>,
    pub claimed: Vec<MarkClaim>,
    /// Reader and bus.
    pub bus: BusFacts,
    /// Speed of moving data inside the card in MB/s, as its SSR states it (PERFORMANCE_MOVE).
    pub stated_move_mb_s: Option<f64>,
    /// Speed behind the write cache in MB/s, if `map` measured it.
    pub after_cache_mb_s: Option<f64>,
    /// Closeness to the specification's method. If content may be lost, its volumes are written: 1 GiB sequentially,
    /// 256 MiB before random writes, and small writes at the start of the card, where file systems have their tables.
    pub form: TestForm,
    /// Ranges of random I/O in bytes, in addition to the whole card. The test area of 256 MiB decides.
    pub spans: Vec<u64>,
}

impl MarkOptions {
    /// Options for a card with this identity and label, otherwise defaults.
    pub fn for_card(
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
            claimed: collect_claims(identity, label),
            bus: BusFacts::from_identity(identity, ceiling_mb_s),
            // PERFORMANCE_MOVE 0 promises only sequential writes, 255 means that moving is free.
            stated_move_mb_s: ssr
                .map(|ssr| ssr.performance_move)
                .filter(|m| (1..255).contains(m))
                .map(f64::from),
            after_cache_mb_s: None,
            form: TestForm::Short,
            spans: vec![64 * MIB, TEST_AREA],
        }
    }

    /// True if content may be lost, so that more can be written.
    pub(super) fn is_thorough(&self) -> bool {
        self.form != TestForm::Short
    }

    /// True if card or label claim a mark of this letter.
    pub(super) fn claims_letter(&self, letter: char) -> bool {
        self.claimed.iter().any(|claim| claim.mark.letter() == letter)
    }

    pub(super) fn claimed_by(&self, mark: cardscope_sd::mark::Mark) -> Vec<ClaimedBy> {
        self.claimed.iter().filter(|claim| claim.mark == mark).map(|claim| claim.by).collect()
    }
}
