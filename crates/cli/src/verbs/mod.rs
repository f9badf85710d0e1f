//! The verbs, one file each.

mod archive;
mod arguments;
mod bench;
mod check;
mod compare;
mod decode;
mod doctor;
mod endure;
mod fit;
mod format;
mod import;
mod info;
mod list;
mod map;
mod observe;
mod rank;
mod report;
mod restore;
mod sim;
mod sustain;
mod verify;

use crate::output::Options;
use cardscope_workbench::Failure;
use clap::Subcommand;

/// What Cardscope does.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    List(list::List),
    Info(info::Info),
    Decode(decode::Decode),
    Bench(bench::Bench),
    Check(check::Check),
    Verify(verify::Verify),
    Map(map::Map),
    Sustain(sustain::Sustain),
    Endure(endure::Endure),
    Observe(observe::Observe),
    Format(format::Format),
    Fit(fit::Fit),
    Import(import::Import),
    Compare(compare::Compare),
    Rank(rank::Rank),
    Report(report::Report),
    Restore(restore::Restore),
    #[command(subcommand)]
    Sim(sim::Sim),
    Archive(archive::Archive),
    Doctor(doctor::Doctor),
}

impl Verb {
    /// Does it; gives the exit status: 0, or 1 where a finding is bad.
    pub(crate) fn run(self, output: &Options) -> Result<u8, Failure> {
        match self {
            Verb::List(verb) => verb.run(output),
            Verb::Info(verb) => verb.run(output),
            Verb::Decode(verb) => verb.run(output),
            Verb::Bench(verb) => verb.run(output),
            Verb::Check(verb) => verb.run(output),
            Verb::Verify(verb) => verb.run(output),
            Verb::Map(verb) => verb.run(output),
            Verb::Sustain(verb) => verb.run(output),
            Verb::Endure(verb) => verb.run(output),
            Verb::Observe(verb) => verb.run(output),
            Verb::Format(verb) => verb.run(output),
            Verb::Fit(verb) => verb.run(output),
            Verb::Import(verb) => verb.run(output),
            Verb::Compare(verb) => verb.run(output),
            Verb::Rank(verb) => verb.run(output),
            Verb::Report(verb) => verb.run(output),
            Verb::Restore(verb) => verb.run(output),
            Verb::Sim(verb) => verb.run(output),
            Verb::Archive(verb) => verb.run(output),
            Verb::Doctor(verb) => verb.run(output),
        }
    }
}
