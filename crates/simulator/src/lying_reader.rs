//! Readers that return other data than the card's: they repeat the start of long reads, flip a bit, drop low bits of
//! the address, or return the data of the read before. Reported in Sinetek-rtsx#9, CapacityTester#17 and
//! rpi-imager#626. Errors, limits and times of a reader are in `rig`.

use crate::archetype::schema::{self, StaleReads};
use crate::content::ReadContent;
use crate::seeded_choice::SeededChance;
use std::ops::Range;

/// Purpose number of the choice of flipped reads.
const FLIPPED_READS: u64 = 0x666c_6970;

#[derive(Debug)]
pub(crate) struct LyingReader {
    /// Longest read that is answered in full; longer ones repeat it.
    longest: u64,
    align: u64,
    flip_every: u64,
    flips: SeededChance,
    stale: StaleReads,
    reads: u64,
    last: Range<u64>,
    /// Data of the last read, for readers that return it again.
    memory: Vec<u8>,
}

impl LyingReader {
    /// None for a reader that returns the card's own data.
    pub(crate) fn new(rig: &schema::TestRig, seed: u64) -> Option<Self> {
        rig.falsifies_reads().then(|| LyingReader {
            longest: rig.repeat_bytes.unwrap_or(u64::MAX),
            align: rig.align_bytes.unwrap_or(1),
            flip_every: rig.flip_read_every,
            flips: SeededChance::new(seed, FLIPPED_READS),
            stale: rig.stale_reads,
            reads: 0,
            last: 0..0,
            memory: Vec::new(),
        })
    }

    /// Offset and length of the read that reaches the card.
    pub(crate) fn request_range(&self, offset: u64, len: u64) -> (u64, u64) {
        (offset - offset % self.align, len.min(self.longest))
    }

    pub(crate) fn has_memory(&self) -> bool {
        self.stale != StaleReads::None
    }

    /// Turns the card's answer to a read of `len` bytes into the reader's. `answer` is empty for readers without
    /// memory.
    pub(crate) fn falsify_read(&mut self, found: &mut ReadContent, len: u64, answer: Vec<u8>) {
        let asked = found.offset..found.offset + len;
        let is_stale = match self.stale {
            StaleReads::None => false,
            StaleReads::Backwards => asked.start < self.last.start,
            StaleReads::Following => asked.start == self.last.end,
        };
        let mut before = std::mem::replace(&mut self.memory, answer);
        if is_stale {
            before.truncate(len as usize);
            found.stale = before;
        }
        self.last = asked.clone();
        self.reads += 1;
        // Two draws for each read: the even one decides whether a bit flips, the odd one chooses the bit.
        found.misread = is_stale || !asked.start.is_multiple_of(self.align) || len > self.longest;
        if self.flip_every > 0 && self.flips.number_at(2 * self.reads).is_multiple_of(self.flip_every) {
            let bit = self.flips.number_at(2 * self.reads + 1) % (len * 8);
            found.flips.push((bit / 8, 1 << (bit % 8)));
            found.misread = true;
        }
    }
}
