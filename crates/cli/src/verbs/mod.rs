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
mod on_card;
mod rank;
mod report;
mod restore;
mod sim;
mod sustain;
mod verify;

use crate::output::Options;
use cardscope_session::Failure;
use clap::Subcommand;

/// The verbs of the command line: each name here is a module of this folder and its arguments, which `run` carries out.
macro_rules! verbs {
    ($($(#[$attribute:meta])* $module:ident::$Verb:ident,)*) => {
        /// What Cardscope does.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($(#[$attribute])* $Verb($module::$Verb),)*
        }

        impl Verb {
            /// Does it; gives the exit status: 0, or 1 where a finding is bad.
            pub(crate) fn run(self, output: &Options) -> Result<u8, Failure> {
                match self {
                    $(Verb::$Verb(verb) => verb.run(output),)*
                }
            }
        }
    };
}

verbs! {
    list::List,
    info::Info,
    decode::Decode,
    bench::Bench,
    check::Check,
    verify::Verify,
    map::Map,
    sustain::Sustain,
    endure::Endure,
    observe::Observe,
    format::Format,
    fit::Fit,
    import::Import,
    compare::Compare,
    rank::Rank,
    report::Report,
    restore::Restore,
    #[command(subcommand)] sim::Sim,
    archive::Archive,
    doctor::Doctor,
}
