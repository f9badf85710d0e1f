//! Capacity fakes (model, F): which place of the medium an address really leads to.

use crate::archetype::{Fake, FakeKind};

/// Where a run of addresses leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    /// Bytes of the run, from the address asked for.
    pub(crate) len: u64,
    /// Where they go.
    pub(crate) place: Place,
}

/// A place of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Kept at this byte of the medium.
    Kept(u64),
    /// Kept at this byte of the medium until another address takes the place: a read must own it.
    Cached(u64),
    /// Nowhere.
    Lost,
}

/// The map of one card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FakeMap {
    kind: FakeKind,
    real: u64,
    wrap: u64,
    cache: u64,
}

impl FakeMap {
    pub(crate) fn new(fake: &Fake, announced: u64) -> Self {
        FakeMap {
            kind: fake.kind,
            real: fake.real_bytes.unwrap_or(announced).min(announced),
            wrap: fake.wrap_bytes.unwrap_or(announced).min(announced),
            cache: fake.cache_bytes.unwrap_or(0),
        }
    }

    /// Where the first bytes of the run of `len` bytes at `offset` lead; as long a run as leads to one place.
    #[inline]
    pub(crate) fn route(&self, offset: u64, len: u64) -> Route {
        match self.kind {
            FakeKind::None => Route { len, place: Place::Kept(offset) },
            FakeKind::Limbo if offset < self.real => {
                Route { len: len.min(self.real - offset), place: Place::Kept(offset) }
            }
            FakeKind::Limbo => self.beyond(offset, len),
            FakeKind::Wraparound => {
                let at = offset % self.wrap;
                Route { len: len.min(self.wrap - at), place: Place::Kept(at) }
            }
            FakeKind::Chain => self.chain(offset, len),
        }
    }

    fn beyond(&self, offset: u64, len: u64) -> Route {
        if self.cache == 0 {
            return Route { len, place: Place::Lost };
        }
        let at = offset % self.cache;
        // The cache stands behind the real bytes in the medium.
        Route { len: len.min(self.cache - at), place: Place::Cached(self.real + at) }
    }

    fn chain(&self, offset: u64, len: u64) -> Route {
        let at = offset % self.wrap;
        let run = len.min(self.wrap - at);
        if at < self.real {
            Route { len: run.min(self.real - at), place: Place::Kept(at) }
        } else {
            Route { len: run, place: Place::Lost }
        }
    }
}
