//! Kinds of faults, and the call on the target at which one strikes.

use super::random::SeededDraw;
use serde::{Deserialize, Serialize};

/// Fault that strikes at a call, or at the first later call to which it applies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    /// `count` I/Os, flushes or discards in a row fail. Half of a torn write reaches the card.
    Errors { count: u32, torn: bool },
    /// The first sector of the I/O fails from then on.
    BadSector,
    /// The card stays present but never answers again.
    Silent,
    /// An answer is late.
    Stall { seconds: u32 },
    /// `count` reads transfer half of their bytes and fail.
    ShortReads { count: u32 },
    /// `count` reads succeed with wrong data.
    WrongData { count: u32, kind: Wrong },
    /// `count` writes succeed but are lost, completely or except for their first half.
    LostWrites { count: u32, half: bool },
    /// The card is removed; the next opening finds what was inserted instead.
    Vanish(PutIn),
    /// The disk of the archive and images, the disk of the journals, or both are full.
    FullDisk { archive: bool, journals: bool },
    /// Ctrl-C; a second one after `again` calls ends the program at once.
    Signal { again: Option<u32> },
    /// The program is killed. Half of a torn write reaches the card.
    Kill { torn: bool },
    /// The card is in a bad reader, or fails, from then on.
    Lasting(Lasting),
}

/// Lasting fault as overrides of a simulated card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lasting {
    pub(super) overrides: &'static str,
    pub(super) harm: Harm,
}

/// Effect of a lasting fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Harm {
    /// Reads return wrong data.
    Misreads,
    /// I/Os fail.
    Fails,
    /// Answers are late.
    Delays,
}

const fn lasting(harm: Harm, overrides: &'static str) -> Lasting {
    Lasting { overrides, harm }
}

/// Lasting faults for cards of 24 MiB.
const LASTING: [Lasting; 16] = [
    lasting(Harm::Misreads, "repeat_bytes=64KiB"),
    lasting(Harm::Misreads, "repeat_bytes=128KiB"),
    lasting(Harm::Misreads, "flip_read_every=100"),
    lasting(Harm::Misreads, "flip_read_every=10"),
    lasting(Harm::Misreads, "align_bytes=4KiB"),
    lasting(Harm::Misreads, "align_bytes=64KiB"),
    lasting(Harm::Misreads, "stale_reads=backwards"),
    lasting(Harm::Misreads, "stale_reads=following"),
    lasting(Harm::Fails, "end_bytes=25165312"),
    lasting(Harm::Fails, "error_ranges=0+1MiB:read"),
    lasting(Harm::Fails, "error_ranges=5MB+100kB"),
    lasting(Harm::Fails, "error_ranges=9MiB+64KiB:write"),
    lasting(Harm::Fails, "read_error_p=0.01"),
    lasting(Harm::Fails, "read_error_p=0.01&error_tries=2"),
    lasting(Harm::Fails, "write_error_p=0.01"),
    lasting(Harm::Delays, "stall_every_ios=300&stall_s=7"),
];

/// Kind of wrong data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wrong {
    OneBit,
    Zeros,
    /// The second half of the buffer keeps its previous content.
    Stale,
    /// Sectors are rotated by one.
    Swapped,
}

/// Content of the slot after the card was removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PutIn {
    Same,
    Other,
    Nothing,
}

/// Argument of [`Fault::of_number`] for each kind of striking fault.
const STRIKING: [u64; 11] = [0, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14];

impl Fault {
    /// True for a lasting fault of this effect.
    pub(super) fn lasts(self, wanted: Harm) -> bool {
        matches!(self, Fault::Lasting(Lasting { harm, .. }) if harm == wanted)
    }

    pub(super) fn drawn(draw: &mut SeededDraw) -> Fault {
        let number = draw.below(16);
        Fault::of_number(number, draw)
    }

    /// Number of kinds: striking, then lasting ones.
    pub(super) const KINDS: u64 = STRIKING.len() as u64 + LASTING.len() as u64;

    pub(super) fn is_lasting(kind: u64) -> bool {
        kind >= STRIKING.len() as u64
    }

    pub(super) fn of_kind(kind: u64, draw: &mut SeededDraw) -> Fault {
        let striking = STRIKING.len() as u64;
        match STRIKING.get(kind as usize) {
            Some(number) => Fault::of_number(*number, draw),
            None => Fault::Lasting(LASTING[(kind - striking) as usize]),
        }
    }

    fn of_number(number: u64, draw: &mut SeededDraw) -> Fault {
        let few = [1, 1, 1, 2, 3, 8, 40];
        match number {
            0 | 1 => Fault::Errors { count: *draw.one_of(&few), torn: draw.once_in(3) },
            2 => Fault::BadSector,
            3 => Fault::Silent,
            4 => Fault::Stall { seconds: *draw.one_of(&[1, 20, 90, 4000]) },
            5 => Fault::ShortReads { count: *draw.one_of(&few) },
            6 | 7 => {
                let kinds = [Wrong::OneBit, Wrong::Zeros, Wrong::Stale, Wrong::Swapped];
                Fault::WrongData { count: *draw.one_of(&few), kind: *draw.one_of(&kinds) }
            }
            8 | 9 => Fault::LostWrites { count: *draw.one_of(&few), half: draw.once_in(4) },
            10 | 11 => Fault::Vanish(*draw.one_of(&[PutIn::Same, PutIn::Same, PutIn::Other, PutIn::Nothing])),
            12 => {
                let (archive, journals) = *draw.one_of(&[(true, false), (false, true), (true, true)]);
                Fault::FullDisk { archive, journals }
            }
            13 => {
                let again = draw.once_in(2).then(|| 1 + draw.below(60) as u32);
                Fault::Signal { again }
            }
            _ => Fault::Kill { torn: draw.once_in(2) },
        }
    }

    /// True if the fault changes neither the card's data nor what is read of it.
    pub(super) fn is_harmless(self) -> bool {
        matches!(
            self,
            Fault::Stall { .. }
                | Fault::Signal { .. }
                | Fault::FullDisk { .. }
                | Fault::Vanish(_)
                | Fault::Kill { .. }
                | Fault::Lasting(Lasting { harm: Harm::Delays, .. })
        )
    }
}

/// Fault with its call on the target, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Due {
    pub(super) step: u64,
    pub(super) fault: Fault,
}

/// Course of a run without faults: number of calls, and the call at which restoring begins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    pub(super) steps: u64,
    pub(super) restoring_at: Option<u64>,
}

impl Course {
    /// Draws a call: near the start, near the end, of the restoring, or any.
    pub(super) fn step(self, draw: &mut SeededDraw) -> u64 {
        let Course { steps, restoring_at } = self;
        match (draw.below(10), restoring_at) {
            (0, _) => draw.below(60.min(steps)),
            (1, _) => steps - 1 - draw.below(60.min(steps)),
            (2..=4, Some(at)) => at.saturating_sub(4) + draw.below(steps - at.saturating_sub(4)),
            _ => draw.below(steps),
        }
    }
}
