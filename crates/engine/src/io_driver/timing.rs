//! Timed I/O: single I/Os, queues and commands that do not touch flash. A failed I/O has no time; it is retried after
//! the timed ones, to find out whether it fails twice.

use super::{CardExtent, IoDriver, ProbeResult, ProbeStop, to_io_error};
use crate::content::IoContent;
use crate::io_counters;
use crate::target::{IoCompletion, IoDirection, IoRequest};
use cardscope_model::units::{Nanos, nanos_to_seconds};
use cardscope_model::verify::IoError;
use cardscope_sd::nvme::SmartLog;
use std::cell::Cell;

/// Ends a timed queue after this many consecutive failures: some cards refuse at once and would be flooded with
/// requests.
const MAX_FAILED_IN_A_ROW: u32 = 64;

/// After this many consecutive I/Os that failed twice, failures are only counted: each retry may take seconds.
const MAX_RETRIED_IN_A_ROW: u32 = 8;

impl IoDriver<'_> {
    /// Replaces the block size and queue depth given at opening.
    pub fn set_queue(&mut self, block: u32, depth: u32) -> ProbeResult {
        (self.block, self.depth) = (block, depth);
        self.plan_lane()
    }

    /// Times one I/O by itself, in seconds, without comparing data; `None` if it failed. Returns [`ProbeStop::Limit`] after
    /// the deadline ([`IoDriver::set_deadline`]).
    pub fn time_io(
        &mut self,
        way: IoDirection,
        content: IoContent,
        at: CardExtent,
    ) -> ProbeResult<Option<f64>> {
        self.check_interrupt()?;
        if self.is_past_deadline(0) {
            return Err(ProbeStop::Limit);
        }
        let (began, io) = (self.now(), at.request(0, way, content));
        let (ended, failed) = self.do_io(&io)?;
        self.counts.ios += 1;
        self.count_bytes(&io);
        if let Some(failed) = failed {
            self.retry_timed(&io, failed)?;
            return Ok(None);
        }
        self.failed_in_a_row = 0;
        Ok(Some(nanos_to_seconds(ended.saturating_sub(began))))
    }

    /// Keeps up to `depth` I/Os in flight and passes each that succeeds to `each`, with the time of its end; nothing is
    /// compared. With `until`, no I/O begins after that time of the card's clock, nor after many consecutive failures;
    /// those in flight are awaited. `content` is written, or is the destination of a read.
    pub fn stream_io(
        &mut self,
        until: Option<Nanos>,
        direction: IoDirection,
        content: IoContent,
        extents: impl IntoIterator<Item = CardExtent>,
        mut each: impl FnMut(CardExtent, Nanos) -> ProbeResult,
    ) -> ProbeResult {
        let mut extents = extents.into_iter().fuse();
        let failed = Cell::new(0);
        let mut tried = Vec::new();
        // Checked against the clock and not the last success, since a card that fails everything has none.
        let mut next = |card: &mut Self| {
            let over = until.is_some_and(|until| card.now() >= until || failed.get() >= MAX_FAILED_IN_A_ROW);
            if over { None } else { extents.next() }
        };
        let mut answer = |card: &mut Self, slot, extent: CardExtent, at, error| match error {
            Some(io_error) => {
                failed.set(failed.get() + 1);
                tried.push((extent, io_error));
                Ok(())
            }
            None => {
                failed.set(0);
                card.failed_in_a_row = 0;
                card.count_bytes(&extent.request(slot, direction, content));
                each(extent, at)
            }
        };
        let driven = self.drive_queue(direction, content, &mut next, &mut answer);
        for (extent, first) in self.failures_to_retry(tried, &driven) {
            self.retry_timed(&extent.request(0, direction, content), first)?;
        }
        driven
    }

    fn retry_timed(&mut self, io: &IoRequest, first: IoError) -> ProbeResult {
        if self.failed_in_a_row >= MAX_RETRIED_IN_A_ROW {
            self.counts.failed_once += 1;
            return Ok(());
        }
        let failed = match io.direction {
            IoDirection::Read => self.retry_read(io.extent(), first, &mut Vec::new()),
            IoDirection::Write => self.retry_write(io, first),
        }?;
        self.failed_in_a_row = failed.map_or(0, |_| self.failed_in_a_row + 1);
        Ok(())
    }

    /// Times a command that the controller answers without its flash, in seconds; `None` if the target has none or it
    /// failed.
    pub fn ping(&mut self) -> ProbeResult<Option<f64>> {
        match self.target.ping() {
            Ok(time) => Ok(time.map(nanos_to_seconds)),
            Err(error) if error.is_final() => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// Temperature in °C, if there is a sensor.
    pub fn temperature(&mut self) -> Option<f64> {
        let celsius = self.target.temperature();
        io_counters::set_temperature(celsius);
        celsius
    }

    /// SMART counters, if the card has them.
    pub fn health(&mut self) -> Option<SmartLog> {
        self.target.health()
    }

    fn count_bytes(&mut self, io: &IoRequest) {
        match io.direction {
            IoDirection::Read => self.tally.read += u64::from(io.len),
            IoDirection::Write => self.tally.written += u64::from(io.len),
        }
    }

    /// Times a read submitted right after other I/Os that are still in flight, as many as the queue depth allows.
    /// `None` if it failed.
    pub fn time_read_among(
        &mut self,
        direction: IoDirection,
        content: IoContent,
        others: &[CardExtent],
        read: CardExtent,
    ) -> ProbeResult<Option<f64>> {
        self.check_interrupt()?;
        let others = &others[..others.len().min(self.depth.saturating_sub(1) as usize)];
        let mut ios: Vec<IoRequest> =
            (1..).zip(others).map(|(slot, other)| other.request(slot, direction, content)).collect();
        ios.push(read.request(0, IoDirection::Read, IoContent::Buffer));
        let (mut began, mut under_way, mut ended) = (0, 0, Ok(()));
        for io in &ios {
            began = self.now();
            // I/Os in flight are awaited even if submitting the next failed.
            ended = self.target.submit(io).map_err(ProbeStop::from);
            if ended.is_err() {
                break;
            }
            under_way += 1;
            io_counters::add_bytes(u64::from(io.len));
        }
        let (mut done, mut took) = (Vec::new(), None);
        while done.len() < under_way {
            self.target.complete(under_way - done.len(), &mut done)?;
        }
        self.counts.ios += done.len() as u64;
        for IoCompletion { slot, at, result } in done {
            let Some(io) = ios.iter().find(|io| io.slot == slot) else { continue };
            match result {
                Ok(()) => {
                    self.count_bytes(io);
                    self.failed_in_a_row = 0;
                    if slot == 0 {
                        took = Some(nanos_to_seconds(at.saturating_sub(began)));
                    }
                }
                Err(error) => self.retry_timed(&IoRequest { slot: 0, ..*io }, to_io_error(error)?)?,
            }
        }
        ended.map(|()| took)
    }
}
