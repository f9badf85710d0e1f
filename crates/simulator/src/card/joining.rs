//! Commands to a controller whose memory joins writes: what it answers itself, and what it has the flash do first.

use super::{Card, Command};
use std::ops::Range;

impl Card {
    /// A command to a controller that joins writes in its memory.
    pub(super) fn serve_through_ram(&mut self, now: f64, command: Command) -> f64 {
        self.rest_of_ram(now);
        let Command { offset, len, in_flight, write } = command;
        let Some(ram) = &mut self.ram else { return self.last_end };
        let held = |range: Range<u64>| Command {
            write: true,
            offset: range.start,
            len: range.end - range.start,
            in_flight,
        };
        if !write {
            let (here, first) = (ram.holds(offset, len), ram.in_the_way(offset, len));
            if here {
                return self.answer(now, len);
            }
            if let Some(range) = first {
                self.serve_by_flash(now, held(range));
            }
            return self.serve_by_flash(now, command);
        }
        let step = ram.write(offset, len);
        if let Some(range) = step.before {
            self.serve_by_flash(now, held(range));
        }
        match step.now {
            Some(range) => self.serve_by_flash(now, held(range)),
            None => {
                self.tally.joined_writes += 1;
                self.answer(now, len)
            }
        }
    }

    /// A controller left alone has meanwhile written what it held.
    fn rest_of_ram(&mut self, now: f64) {
        let last_end = self.last_end;
        if let Some(range) = self.ram.as_mut().and_then(|ram| ram.rested(now, last_end)) {
            self.drain(last_end, range);
        }
    }

    pub(super) fn drain(&mut self, now: f64, range: Range<u64>) {
        let (offset, len) = (range.start, range.end - range.start);
        self.serve_by_flash(now, Command { write: true, offset, len, in_flight: 1 });
    }

    /// A command that the controller's memory answers.
    fn answer(&mut self, now: f64, len: u64) -> f64 {
        let cost = self.ram.as_ref().map_or(0.0, |ram| ram.cost(len));
        let draw = self.noise.read();
        self.last_end = now.max(self.last_end) + cost * draw.factor;
        self.last_end
    }
}
