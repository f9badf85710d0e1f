//! The part that asks whether the capacity is real.

use super::visit::Visit;
use crate::error::Failure;
use crate::verify;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::Interrupt;
use cardscope_model::verify::{Method, Verdict, VerifyReport};

/// Of what may be written, the question whether the capacity is real gets this part.
const VERIFY_SHARE: u64 = 4;

/// Bytes within which a limit was what ended it: the run at the end of a card doubles in such steps.
const NEARLY: u64 = 128 << 20;

impl Visit<'_> {
    pub(super) fn verify(
        &mut self,
        interrupt: &Interrupt,
        listener: &mut dyn Listener,
    ) -> Result<(), Failure> {
        if self.request.read_only {
            self.left_out("verify", "it writes (and puts back), and --read-only was given");
            return Ok(());
        }
        let began = self.now();
        let request = self.verify_request();
        let outcome = if self.directory {
            verify::files::run(&request, self.opened.held.as_deref(), interrupt, listener)
        } else {
            verify::quick::on(&request, self.opened, interrupt, listener)
        };
        let verify::Outcome { report, failure } = match outcome {
            Ok(outcome) => outcome,
            Err(Failure::Refused(why)) => {
                self.left_out("verify", why);
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        // Its files are written past the target of the visit.
        self.opened.limit.count(report.body.moved.bytes_written);
        let whole = report.body.verdict != Verdict::Inconclusive;
        let limited = request.max_write.is_some_and(|most| report.body.moved.bytes_written + NEARLY >= most);
        self.take_verify(report);
        let short = match limited {
            true => "too little may be written to come to a verdict; --max-write sets the limit",
            false => {
                "the time was too short to come to a verdict; `cardscope verify` takes the time it needs"
            }
        };
        self.done("verify", began, (!whole).then(|| short.to_owned()));
        if !whole && !limited {
            self.wants_time();
        }
        failure.map_or(Ok(()), Err)
    }

    fn verify_request(&self) -> verify::Request {
        verify::Request {
            target: self.request.target.clone(),
            method: if self.directory { Method::Files } else { Method::Quick },
            thorough: false,
            erase: self.request.erase,
            backup: None,
            read_only: false,
            resume: false,
            two_passes: false,
            keep_files: false,
            budget: Some(self.budget.verify(!self.directory && !self.request.erase)),
            max_write: self.left_to_write().map(|left| left / VERIFY_SHARE),
            label: self.request.label.clone(),
            conditions: self.request.conditions.clone(),
            seed: Some(self.report.header.seed),
            archive: self.request.archive.clone(),
        }
    }

    fn take_verify(&mut self, found: VerifyReport) {
        let report = &mut self.report;
        (report.body.verdict, report.body.confidence) = (found.body.verdict, found.body.confidence);
        (report.body.usable_bytes, report.body.proven_bytes) =
            (found.body.usable_bytes, found.body.proven_bytes);
        if self.directory {
            // What the files filled, which is more than a file of a benchmark could be given.
            report.body.announced_bytes = found.body.announced_bytes;
        }
        report.body.moved.data_kept &= found.body.moved.data_kept;
        report.body.moved.bytes_written += found.body.moved.bytes_written;
        report.body.moved.bytes_restored += found.body.moved.bytes_restored;
        report.body.moved.bytes_read += found.body.moved.bytes_read;
        report.header.findings.extend(found.header.findings.clone());
        report.body.verify = Some(found);
    }
}
