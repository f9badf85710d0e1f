//! What goes wrong, and at which call on the target.

use super::draw::SeededDraw;
use serde::{Deserialize, Serialize};

/// A fault, which strikes at a call or at the first one after it that it can strike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    /// So many I/Os, flushes or discards in a row fail. Of a write half may have reached the card.
    Errors { count: u32, torn: bool },
    /// The sector that the I/O begins with fails from now on.
    BadSector,
    /// The card is there and answers nothing any more.
    Silent,
    /// An answer comes late.
    Stall { seconds: u32 },
    /// So many reads move half of their bytes and fail.
    ShortReads { count: u32 },
    /// So many reads bring wrong data and say that all is well.
    WrongData { count: u32, kind: Wrong },
    /// So many writes say that all is well and are lost, whole or but for their first half.
    LostWrites { count: u32, half: bool },
    /// The card is pulled out; whoever opens it anew finds what was put in.
    Vanish(PutIn),
    /// The disk has no room any more: that of the archive and of images, that of the journals, or both.
    FullDisk { archive: bool, journals: bool },
    /// Ctrl-C; the second one after so many calls ends the program at once.
    Signal { again: Option<u32> },
    /// The program is killed; of a write under way half may have reached the card.
    Kill { torn: bool },
    /// The card is in another reader from now on, or goes on failing.
    Lasting(Lasting),
}

/// What lasts, as overrides of a simulated card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Lasting {
    pub(super) overrides: &'static str,
    pub(super) harm: Harm,
}

/// What a lasting fault does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Harm {
    /// Reads bring other data than the card's.
    Misreads,
    /// I/Os fail.
    Fails,
    /// Answers come late.
    Delays,
}

const fn lasting(harm: Harm, overrides: &'static str) -> Lasting {
    Lasting { overrides, harm }
}

/// Of cards of 24 MiB.
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

/// How data is wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wrong {
    OneBit,
    Zeros,
    /// The rest of the buffer is what was in it before.
    Stale,
    /// Each sector in the place of its neighbour.
    Swapped,
}

/// What is in the slot after the card was pulled out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PutIn {
    Same,
    Other,
    Nothing,
}

/// A number of [`Fault::of_number`] for each kind of fault that strikes.
const STRIKING: [u64; 11] = [0, 2, 3, 4, 5, 6, 8, 10, 12, 13, 14];

impl Fault {
    /// True for a fault of that harm that lasts.
    pub(super) fn lasts(self, wanted: Harm) -> bool {
        matches!(self, Fault::Lasting(Lasting { harm, .. }) if harm == wanted)
    }

    pub(super) fn drawn(draw: &mut SeededDraw) -> Fault {
        let number = draw.below(16);
        Fault::of_number(number, draw)
    }

    /// Kinds of faults: those that strike, then those that last.
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

    /// Whether it leaves both the card and what is read of it as they are.
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

/// A fault with its call: the n-th on the target, from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Due {
    pub(super) step: u64,
    pub(super) fault: Fault,
}

/// What a run without faults shows of itself: how many calls it makes, and with which one it begins to put back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Course {
    pub(super) steps: u64,
    pub(super) restoring_at: Option<u64>,
}

impl Course {
    /// A call of such a run: of the beginning, of the end, of the putting back, or any.
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
