//! Faults of a card (failing commands, vanishing) and its false address map. Both follow from the seed and from the
//! history of commands, so that the same commands meet the same faults.

use crate::archetype::{Archetype, FakeKind, schema};
use crate::seeded_choice::{ChosenUnits, SeededChance};
use cardscope_engine::target::{IoDirection, IoRequest, TargetError};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Purpose numbers: each purpose draws random numbers that are independent of the others.
const FAILING_UNITS: u64 = 0x6661_696c;
const RANDOM_FAILURES: u64 = 0x7472_6965;

/// Commands so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FaultCounters {
    pub(crate) written: u64,
    pub(crate) ios: u64,
    pub(crate) reads: u64,
}

#[derive(Debug)]
pub(crate) struct FaultModel {
    p: schema::CardFaults,
    /// Units in which every command fails after the faults have begun.
    pub(crate) failing: Option<ChosenUnits>,
    attempts: SeededChance,
    /// Ranges that failed by chance, and the number of attempts that will fail there.
    pending_failures: Vec<(Range<u64>, u64)>,
    pub(crate) counters: FaultCounters,
}

impl FaultModel {
    pub(crate) fn new(p: &schema::CardFaults, seed: u64) -> Self {
        let failing = ChosenUnits::new(seed, FAILING_UNITS, p.unit_bytes, p.failing_share);
        FaultModel {
            p: p.clone(),
            failing: (p.failing_share > 0.0).then_some(failing),
            attempts: SeededChance::new(seed, RANDOM_FAILURES),
            pending_failures: Vec::new(),
            counters: FaultCounters::default(),
        }
    }

    /// Card time at which the card vanishes, in ns; infinity for never.
    pub(crate) fn vanishes_at(&self) -> f64 {
        self.p.vanish_after_s.map_or(f64::INFINITY, |s| s * 1e9)
    }

    /// True if the commands so far make the card vanish.
    pub(crate) fn has_vanished(&self) -> bool {
        let FaultCounters { written, ios, .. } = self.counters;
        self.p.vanish_after_bytes.is_some_and(|most| written >= most)
            || self.p.vanish_after_ios.is_some_and(|most| ios >= most)
    }

    pub(crate) fn have_begun(&self) -> bool {
        self.counters.written >= self.p.begin_after_bytes
    }

    /// Counts a command. Fails if the card fails it.
    pub(crate) fn count_command(&mut self, write: bool, offset: u64, len: u64) -> CardResult {
        let (number, begun) = (self.counters.ios, self.have_begun());
        self.counters.ios += 1;
        let p = if write {
            self.counters.written += len;
            self.p.write_error_p
        } else {
            self.counters.reads += 1;
            self.p.read_error_p
        };
        if self.fails_again(offset, len) {
            return CardIoError::command_failed("the card failed again");
        }
        if begun && p > 0.0 && self.attempts.fraction_at(number) < p {
            let more = self.p.error_tries - 1;
            self.pending_failures.extend((more > 0).then_some((offset..offset + len, more)));
            return CardIoError::command_failed("the card failed this time");
        }
        let in_bad_unit = begun && self.failing.is_some_and(|units| touches_chosen(units, offset, len));
        if in_bad_unit || self.p.error_ranges.fails_command(write, offset, len) {
            return CardIoError::command_failed("the card fails at this place");
        }
        Ok(())
    }

    /// True if the range failed by chance before and must fail again.
    fn fails_again(&mut self, offset: u64, len: u64) -> bool {
        let touches = |(place, _): &(Range<u64>, u64)| place.start < offset + len && offset < place.end;
        let Some(at) = self.pending_failures.iter().position(touches) else { return false };
        self.pending_failures[at].1 -= 1;
        if self.pending_failures[at].1 == 0 {
            self.pending_failures.swap_remove(at);
        }
        true
    }

    /// True if the loss of power tears the last counted command.
    pub(crate) fn tears_write(&self) -> bool {
        self.p.vanish_tears && self.has_vanished()
    }
}

fn touches_chosen(units: ChosenUnits, offset: u64, len: u64) -> bool {
    let (bad, run) = units.run_at(offset, len);
    bad || run < len
}

pub(crate) type CardResult<T = ()> = Result<T, CardIoError>;

/// Reason why a card did not execute a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CardIoError {
    /// The command failed, but the card still answers. The errno is that of the kernel.
    Failed {
        reason: String,
        errno: i32,
    },
    Gone {
        reason: String,
    },
}

impl CardIoError {
    pub(crate) fn command_failed<T>(reason: &str) -> CardResult<T> {
        Err(CardIoError::Failed { reason: reason.to_owned(), errno: libc::EIO })
    }

    pub(crate) fn card_gone<T>(reason: &str) -> CardResult<T> {
        Err(CardIoError::Gone { reason: reason.to_owned() })
    }

    /// Errno that the kernel would return to a program: no space, no device, or an I/O error.
    pub(crate) fn errno(&self) -> i32 {
        match self {
            CardIoError::Failed { errno: libc::ENOSPC, .. } => libc::ENOSPC,
            CardIoError::Failed { .. } => libc::EIO,
            CardIoError::Gone { .. } => libc::ENODEV,
        }
    }

    /// Error of an I/O for the engine.
    #[cold]
    pub(crate) fn into_target_error(self, io: &IoRequest) -> TargetError {
        let operation = match io.direction {
            IoDirection::Read => "read",
            IoDirection::Write => "write",
        };
        self.into_call_error(operation, io.offset, u64::from(io.len))
    }

    /// Error of any call for the engine; offset and length 0 for calls without a range.
    pub(crate) fn into_call_error(self, operation: &'static str, offset: u64, len: u64) -> TargetError {
        match self {
            Self::Failed { reason, errno } => TargetError::Io { operation, offset, len, reason, errno },
            Self::Gone { reason } => TargetError::Gone { operation, offset, reason },
        }
    }
}

pub(super) const DAMAGED_UNITS: u64 = 0x6461_6d61;
const LOST_UNITS: u64 = 0x6c6f_7374;

/// Place to which a range of addresses leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressRoute {
    /// Bytes from the requested address that lead there.
    pub(crate) len: u64,
    pub(crate) place: MediumLocation,
}

/// Place on the medium, as a byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MediumLocation {
    /// The byte keeps its data.
    Kept(u64),
    /// The byte loses its data; older data may be read.
    Bad(u64),
    Nowhere,
}

/// Address map of a card that may be a fake.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FakeMap {
    kind: FakeKind,
    /// Bytes of the medium that exist.
    pub(super) real: u64,
    wrap: u64,
    damaged: Option<ChosenUnits>,
    /// Units that are lost after the faults have begun.
    late: Option<ChosenUnits>,
    pub(super) begun: bool,
}

impl FakeMap {
    pub(crate) fn new(card: &Archetype, seed: u64) -> Self {
        let (fake, faults, announced) = (&card.fake, &card.faults, card.announced_bytes);
        let damaged = ChosenUnits::new(seed, DAMAGED_UNITS, fake.damaged_unit_bytes, fake.damaged_share);
        let late = ChosenUnits::new(seed, LOST_UNITS, faults.unit_bytes, faults.lost_share);
        FakeMap {
            kind: fake.kind,
            real: fake.real_bytes.unwrap_or(announced).min(announced),
            wrap: fake.wrap_bytes.unwrap_or(announced).min(announced),
            damaged: (fake.kind == FakeKind::Damaged).then_some(damaged),
            late: (faults.lost_share > 0.0).then_some(late),
            begun: faults.begin_after_bytes == 0,
        }
    }

    /// Map of the card after all faults have begun.
    pub(crate) fn with_all_faults(card: &Archetype, seed: u64) -> Self {
        FakeMap { begun: true, ..FakeMap::new(card, seed) }
    }

    /// Place of the start of a range of `len` bytes at `offset`, and the bytes that share it.
    #[inline]
    pub(crate) fn route(&self, offset: u64, mut len: u64) -> AddressRoute {
        let at = match self.kind {
            FakeKind::Wraparound | FakeKind::Chain => offset % self.wrap,
            FakeKind::AddressLine => offset & !self.wrap,
            _ => offset,
        };
        if matches!(self.kind, FakeKind::Wraparound | FakeKind::Chain | FakeKind::AddressLine) {
            len = len.min(self.wrap - offset % self.wrap);
        }
        if matches!(self.kind, FakeKind::Limbo | FakeKind::Chain) {
            if at >= self.real {
                return AddressRoute { len, place: MediumLocation::Nowhere };
            }
            len = len.min(self.real - at);
        }
        let late = self.late.filter(|_| self.begun);
        for units in [self.damaged, late].into_iter().flatten() {
            let (bad, run) = units.run_at(at, len);
            len = run;
            if bad {
                return AddressRoute { len, place: MediumLocation::Bad(at) };
            }
        }
        AddressRoute { len, place: MediumLocation::Kept(at) }
    }
}
