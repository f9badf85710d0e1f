//! Reader, bus and host between the card and whoever measures (model, X): a layer of its own, so that the same card
//! gives its own numbers in one rig and worse ones in another. The bus's ceiling is applied inside the card, where
//! the transfers are.

use crate::archetype::{self, Archetype};
use crate::card::{Card, Command};

/// A card in its rig. Times are nanoseconds since it was put in.
#[derive(Debug)]
pub(crate) struct Rig {
    /// The card.
    pub(crate) card: Card,
    overhead: f64,
    split: u64,
    /// Nanoseconds a byte of the measuring tool's own data source.
    source_per_byte: f64,
    source_free: f64,
    plain: bool,
}

impl Rig {
    pub(crate) fn new(a: &Archetype, seed: u64) -> Self {
        let archetype::Rig { overhead_s, split_bytes, host_source_mb_s, .. } = a.rig;
        Rig {
            card: Card::new(a, seed),
            overhead: overhead_s * 1e9,
            split: split_bytes.unwrap_or(u64::MAX),
            source_per_byte: host_source_mb_s.map_or(0.0, |mb_s| 1e3 / mb_s),
            source_free: 0.0,
            plain: overhead_s == 0.0 && split_bytes.is_none() && host_source_mb_s.is_none(),
        }
    }

    /// A command of the measuring tool at `now`; returns when it ends.
    #[inline]
    pub(crate) fn command(&mut self, now: f64, command: Command) -> f64 {
        if self.plain {
            return self.card.serve(now, command);
        }
        let ready = if command.write { self.source(now, command.len) } else { now };
        self.transfer(ready, command)
    }

    /// When the tool's data source has made `len` bytes, asked for at `now`.
    pub(crate) fn source(&mut self, now: f64, len: u64) -> f64 {
        if self.source_per_byte == 0.0 {
            return now;
        }
        self.source_free = self.source_free.max(now) + len as f64 * self.source_per_byte;
        self.source_free
    }

    /// A command whose data is there, through the reader.
    pub(crate) fn transfer(&mut self, now: f64, command: Command) -> f64 {
        let arrival = now + self.overhead;
        let (mut done, mut end) = (0, arrival);
        while done < command.len {
            let len = self.split.min(command.len - done);
            end = self.card.serve(arrival, Command { offset: command.offset + done, len, ..command });
            done += len;
        }
        end
    }
}
