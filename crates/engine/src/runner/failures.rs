//! Failed I/Os of a test: each is retried once in place, and neither attempt is timed.

use crate::content::IoContent;
use crate::io_driver::to_io_record;
use crate::target::{IoDirection, IoRequest, Target, TargetError, TargetResult};
use cardscope_model::verify::{IoCounts, IoError, list_failed};

const MAX_LISTED_ERRORS: usize = 100;

/// Ends a test after this many consecutive I/Os that failed twice: some cards refuse at once and would be flooded with
/// requests.
const MAX_FAILED_IN_A_ROW: u32 = 16;

#[derive(Debug, Default)]
pub(super) struct IoFailures {
    pub(super) counts: IoCounts,
    pub(super) listed: Vec<IoError>,
}

impl IoFailures {
    pub(super) fn add_all(&mut self, more: IoFailures) {
        self.counts += more.counts;
        more.listed.into_iter().for_each(|io_error| self.list_error(io_error));
    }

    fn list_error(&mut self, io_error: IoError) {
        list_failed(&mut self.listed, MAX_LISTED_ERRORS, io_error);
    }

    fn add_failed_twice(&mut self, first: IoError) {
        self.counts.failed_twice += 1;
        self.list_error(first);
    }

    fn add_recovered(&mut self, first: IoError) {
        self.counts.failed_once += 1;
        self.list_error(IoError { recovered: true, ..first });
    }

    /// Flushes the target; a failed flush is retried once.
    pub(super) fn flush(&mut self, target: &mut dyn Target) -> TargetResult {
        let Err(error) = target.flush() else { return Ok(()) };
        let first = to_io_record(error)?;
        match target.flush() {
            Ok(()) => self.add_recovered(first),
            Err(again) => to_io_record(again).map(|_| self.add_failed_twice(first))?,
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(super) struct IoRetries {
    pub(super) failures: IoFailures,
    retrying: Vec<(u32, IoError)>,
    /// Consecutive I/Os that failed twice.
    in_a_row: u32,
}

impl IoRetries {
    /// Records a failure. Returns the I/O to retry, or `None` if it failed twice.
    pub(super) fn on_failure(
        &mut self,
        slot: u32,
        error: TargetError,
        content: IoContent,
    ) -> TargetResult<Option<IoRequest>> {
        let io_error = to_io_record(error)?;
        if let Some(first) = self.take_first_failure(slot) {
            self.in_a_row += 1;
            self.failures.add_failed_twice(first);
            return Ok(None);
        }
        let direction = if io_error.operation == "write" { IoDirection::Write } else { IoDirection::Read };
        let again = IoRequest { slot, direction, offset: io_error.offset, len: io_error.len as u32, content };
        self.retrying.push((slot, io_error));
        Ok(Some(again))
    }

    /// Records a success. Returns true if it was a retry.
    #[inline]
    pub(super) fn on_success(&mut self, slot: u32) -> bool {
        if self.retrying.is_empty() {
            self.in_a_row = 0;
            return false;
        }
        self.retry_succeeded(slot)
    }

    #[cold]
    fn retry_succeeded(&mut self, slot: u32) -> bool {
        self.in_a_row = 0;
        let first = self.take_first_failure(slot);
        let again = first.is_some();
        first.into_iter().for_each(|first| self.failures.add_recovered(first));
        again
    }

    fn take_first_failure(&mut self, slot: u32) -> Option<IoError> {
        let place = self.retrying.iter().position(|(of, _)| *of == slot)?;
        Some(self.retrying.swap_remove(place).1)
    }

    pub(super) fn has_too_many(&self) -> bool {
        self.in_a_row >= MAX_FAILED_IN_A_ROW
    }

    /// Returns all failures. I/Os that could not be retried count as failed once.
    pub(super) fn finish(mut self, ios: u64) -> IoFailures {
        self.failures.counts.ios += ios;
        self.failures.counts.failed_once += self.retrying.len() as u64;
        self.failures
    }
}
