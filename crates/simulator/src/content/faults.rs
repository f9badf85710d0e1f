//! When a card fails a command or vanishes. The moments follow from the seed and from what was done to the card, so
//! that the same commands meet the same faults.

use crate::archetype::{Archetype, FakeKind, schema};
use crate::chance::{ChosenUnits, SeededChance};
use cardscope_engine::target::{IoDirection, IoRequest, TargetError};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Tell the choices of one seed apart.
const FAILING: u64 = 0x6661_696c;
const TRIES: u64 = 0x7472_6965;

/// What the card has been through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultCounters {
    pub(crate) written: u64,
    pub(crate) ios: u64,
    pub(crate) reads: u64,
}

#[derive(Debug)]
pub(crate) struct FaultModel {
    p: schema::CardFaults,
    /// The units that fail, on a card with all its faults.
    pub(crate) failing: Option<ChosenUnits>,
    tries: SeededChance,
    /// Places that failed by chance, and the tries that still fail there.
    again: Vec<(Range<u64>, u64)>,
    pub(crate) counters: FaultCounters,
}

impl FaultModel {
    pub(crate) fn new(p: &schema::CardFaults, seed: u64) -> Self {
        let failing = ChosenUnits::new(seed, FAILING, p.unit_bytes, p.failing_share);
        FaultModel {
            p: p.clone(),
            failing: (p.failing_share > 0.0).then_some(failing),
            tries: SeededChance::new(seed, TRIES),
            again: Vec::new(),
            counters: FaultCounters::default(),
        }
    }

    /// When the card vanishes by its clock, in nanoseconds.
    pub(crate) fn vanishes_at(&self) -> f64 {
        self.p.vanish_after_s.map_or(f64::INFINITY, |s| s * 1e9)
    }

    /// Whether the card has vanished by what was done to it.
    pub(crate) fn vanished(&self) -> bool {
        let FaultCounters { written, ios, .. } = self.counters;
        self.p.vanish_after_bytes.is_some_and(|most| written >= most)
            || self.p.vanish_after_ios.is_some_and(|most| ios >= most)
    }

    pub(crate) fn begun(&self) -> bool {
        self.counters.written >= self.p.begin_after_bytes
    }

    /// Counts a command, and fails if the card fails it.
    pub(crate) fn strike(&mut self, write: bool, offset: u64, len: u64) -> Result<(), CardIoError> {
        let (number, begun) = (self.counters.ios, self.begun());
        self.counters.ios += 1;
        if write {
            self.counters.written += len;
        } else {
            self.counters.reads += 1;
        }
        let p = if write { self.p.write_error_p } else { self.p.read_error_p };
        let again = self.fails_again(offset, len);
        if !again && begun && p > 0.0 && self.tries.unit(number) < p {
            self.again
                .extend((self.p.error_tries > 1).then(|| (offset..offset + len, self.p.error_tries - 1)));
            return Err(CardIoError::failed("the card failed this time"));
        }
        if again {
            return Err(CardIoError::failed("the card failed again"));
        }
        if self.p.error_ranges.fail(write, offset, len) {
            return Err(CardIoError::failed("the card fails at this place"));
        }
        if begun && self.failing.is_some_and(|units| hits(units, offset, len)) {
            return Err(CardIoError::failed("the card fails at this place"));
        }
        Ok(())
    }
}

impl FaultModel {
    /// True where a command fails because another one failed by chance in its place.
    fn fails_again(&mut self, offset: u64, len: u64) -> bool {
        let touches = |(place, _): &(Range<u64>, u64)| place.start < offset + len && offset < place.end;
        let Some(at) = self.again.iter().position(touches) else { return false };
        self.again[at].1 -= 1;
        if self.again[at].1 == 0 {
            self.again.swap_remove(at);
        }
        true
    }

    /// True where the command that was counted last is torn by the loss of power.
    pub(crate) fn tears(&self) -> bool {
        self.p.vanish_tears && self.vanished()
    }
}

fn hits(units: ChosenUnits, offset: u64, len: u64) -> bool {
    let (bad, run) = units.run(offset, len);
    bad || run < len
}

/// Why the card did not do as it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CardIoError {
    /// This command failed; the card still answers.
    Failed {
        reason: String,
        /// The errno that the kernel would give.
        errno: i32,
    },
    /// It does not answer any more.
    Gone { reason: String },
}

impl CardIoError {
    /// The card failed this command by itself.
    pub(crate) fn failed(reason: &str) -> CardIoError {
        CardIoError::Failed { reason: reason.to_owned(), errno: libc::EIO }
    }

    /// It answers no more from now on.
    pub(crate) fn gone(reason: &str) -> CardIoError {
        CardIoError::Gone { reason: reason.to_owned() }
    }

    /// What a kernel would tell a program: no room, no device, or an error like any other.
    pub(crate) fn errno(&self) -> i32 {
        match self {
            CardIoError::Failed { errno: libc::ENOSPC, .. } => libc::ENOSPC,
            CardIoError::Failed { .. } => libc::EIO,
            CardIoError::Gone { .. } => libc::ENODEV,
        }
    }

    /// In the engine's words, of an I/O.
    #[cold]
    pub(crate) fn of(self, io: &IoRequest) -> TargetError {
        let operation = match io.direction {
            IoDirection::Read => "read",
            IoDirection::Write => "write",
        };
        self.during(operation, io.offset, u64::from(io.len))
    }

    /// The same, of a call that may be no read or write.
    pub(crate) fn during(self, operation: &'static str, offset: u64, len: u64) -> TargetError {
        match self {
            CardIoError::Failed { reason, errno } => {
                TargetError::Io { operation, offset, len, reason, errno }
            }
            CardIoError::Gone { reason } => TargetError::Gone { operation, offset, reason },
        }
    }
}

/// Tell the choices of one seed apart.
pub(super) const DAMAGED: u64 = 0x6461_6d61;
const LOST: u64 = 0x6c6f_7374;

/// Where a run of addresses leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressRoute {
    /// Bytes of the run, from the address asked for.
    pub(crate) len: u64,
    pub(crate) place: MediumLocation,
}

/// A place of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediumLocation {
    /// Kept at this byte of the medium.
    Kept(u64),
    /// This byte of the medium keeps nothing any more; what it held before may still show.
    Bad(u64),
    Nowhere,
}

/// The map of one card.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FakeMap {
    kind: FakeKind,
    /// Bytes of the medium that keep what they are given, as far as the map goes.
    pub(super) real: u64,
    wrap: u64,
    damaged: Option<ChosenUnits>,
    /// Units that are lost once faults have begun.
    late: Option<ChosenUnits>,
    pub(super) begun: bool,
}

impl FakeMap {
    pub(crate) fn new(card: &Archetype, seed: u64) -> Self {
        let (fake, faults, announced) = (&card.fake, &card.faults, card.announced_bytes);
        let damaged = ChosenUnits::new(seed, DAMAGED, fake.damaged_unit_bytes, fake.damaged_share);
        let late = ChosenUnits::new(seed, LOST, faults.unit_bytes, faults.lost_share);
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

    /// Where the first bytes of the run of `len` bytes at `offset` lead; as long a run as leads to one place.
    #[inline]
    pub(crate) fn route(&self, offset: u64, len: u64) -> AddressRoute {
        let route = match self.kind {
            FakeKind::None | FakeKind::Damaged | FakeKind::Overcommitted | FakeKind::ReadOnly => {
                AddressRoute { len, place: MediumLocation::Kept(offset) }
            }
            FakeKind::Limbo => self.below_real(offset, len),
            FakeKind::AddressLine => AddressRoute {
                len: len.min(self.wrap - offset % self.wrap),
                place: MediumLocation::Kept(offset & !self.wrap),
            },
            FakeKind::Wraparound => self.wrapped(offset, len),
            FakeKind::Chain => {
                let AddressRoute { len, .. } = self.wrapped(offset, len);
                self.below_real(offset % self.wrap, len)
            }
        };
        match route.place {
            MediumLocation::Kept(at) => self.unless_bad(at, route.len),
            _ => route,
        }
    }

    fn wrapped(&self, offset: u64, len: u64) -> AddressRoute {
        let at = offset % self.wrap;
        AddressRoute { len: len.min(self.wrap - at), place: MediumLocation::Kept(at) }
    }

    fn below_real(&self, at: u64, len: u64) -> AddressRoute {
        if at < self.real {
            AddressRoute { len: len.min(self.real - at), place: MediumLocation::Kept(at) }
        } else {
            AddressRoute { len, place: MediumLocation::Nowhere }
        }
    }

    fn unless_bad(&self, at: u64, mut len: u64) -> AddressRoute {
        let late = self.late.filter(|_| self.begun);
        for units in [self.damaged, late].into_iter().flatten() {
            let (bad, run) = units.run(at, len);
            len = run;
            if bad {
                return AddressRoute { len, place: MediumLocation::Bad(at) };
            }
        }
        AddressRoute { len, place: MediumLocation::Kept(at) }
    }
}
