//! Capacity fakes (model, F): which place of the medium an address really leads to.

use crate::archetype::{Archetype, FakeKind};
use crate::chance::Units;

/// Tell the choices of one seed apart.
pub(super) const DAMAGED: u64 = 0x6461_6d61;
const LOST: u64 = 0x6c6f_7374;

/// Where a run of addresses leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// Bytes of the run, from the address asked for.
    pub(crate) len: u64,
    /// Where they go.
    pub(crate) place: Location,
}

/// A place of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// Kept at this byte of the medium.
    Kept(u64),
    /// This byte of the medium keeps nothing any more; what it held before may still show.
    Bad(u64),
    /// Nowhere.
    Nowhere,
}

/// The map of one card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FakeMap {
    kind: FakeKind,
    /// Bytes of the medium that keep what they are given, as far as the map goes.
    pub(super) real: u64,
    wrap: u64,
    damaged: Option<Units>,
    /// Units that are lost once faults have begun.
    late: Option<Units>,
    begun: bool,
}

impl FakeMap {
    pub(crate) fn new(card: &Archetype, seed: u64) -> Self {
        let (fake, faults, announced) = (&card.fake, &card.faults, card.announced_bytes);
        let damaged = Units::new(seed, DAMAGED, fake.damaged_unit_bytes, fake.damaged_share);
        let late = Units::new(seed, LOST, faults.unit_bytes, faults.lost_share);
        FakeMap {
            kind: fake.kind,
            real: fake.real_bytes.unwrap_or(announced).min(announced),
            wrap: fake.wrap_bytes.unwrap_or(announced).min(announced),
            damaged: (fake.kind == FakeKind::Damaged).then_some(damaged),
            late: (faults.lost_share > 0.0).then_some(late),
            begun: faults.begin_after_bytes == 0,
        }
    }

    /// The card with all its faults, whenever they begin.
    pub(crate) fn at_last(card: &Archetype, seed: u64) -> Self {
        FakeMap { begun: true, ..FakeMap::new(card, seed) }
    }

    /// From now on late units are lost.
    pub(crate) fn begin_faults(&mut self) {
        self.begun = true;
    }

    /// Where the first bytes of the run of `len` bytes at `offset` lead; as long a run as leads to one place.
    #[inline]
    pub(crate) fn route(&self, offset: u64, len: u64) -> Route {
        let route = match self.kind {
            FakeKind::None | FakeKind::Damaged | FakeKind::Overcommitted | FakeKind::ReadOnly => {
                Route { len, place: Location::Kept(offset) }
            }
            FakeKind::Limbo => self.below_real(offset, len),
            FakeKind::AddressLine => Route {
                len: len.min(self.wrap - offset % self.wrap),
                place: Location::Kept(offset & !self.wrap),
            },
            FakeKind::Wraparound => self.wrapped(offset, len),
            FakeKind::Chain => {
                let Route { len, .. } = self.wrapped(offset, len);
                self.below_real(offset % self.wrap, len)
            }
        };
        match route.place {
            Location::Kept(at) => self.unless_bad(at, route.len),
            _ => route,
        }
    }

    fn wrapped(&self, offset: u64, len: u64) -> Route {
        let at = offset % self.wrap;
        Route { len: len.min(self.wrap - at), place: Location::Kept(at) }
    }

    fn below_real(&self, at: u64, len: u64) -> Route {
        if at < self.real {
            Route { len: len.min(self.real - at), place: Location::Kept(at) }
        } else {
            Route { len, place: Location::Nowhere }
        }
    }

    fn unless_bad(&self, at: u64, mut len: u64) -> Route {
        let late = self.late.filter(|_| self.begun);
        for units in [self.damaged, late].into_iter().flatten() {
            let (bad, run) = units.run(at, len);
            len = run;
            if bad {
                return Route { len, place: Location::Bad(at) };
            }
        }
        Route { len, place: Location::Kept(at) }
    }
}
