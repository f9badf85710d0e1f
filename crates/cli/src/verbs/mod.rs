//! Dispatch of the verbs. The crate of a verb defines its request and its page; this module has files for verbs that exist
//! only on the command line.

mod archive;
mod compare;
mod import;
mod list;
mod page;
mod report;
mod restore;
mod serve;
mod sim;
mod top;

use crate::output::{self, OutputOptions};
use crate::terminal::TypedTemperatures;
use cardscope_identity::verb as identify;
use cardscope_session as session;
use cardscope_session::Result;
use cardscope_verbs::list::VerbDocument;
use clap::Subcommand;
use page::{PageCommand, attended, page};

/// Defines the enum of verbs with the request of each and the expression that runs it.
macro_rules! verbs {
    ($($(#[$attribute:meta])* $Verb:ident($Asked:ty) = |$asked:pat_param, $options:pat_param| $run:expr;)*) => {
        /// What Cardscope does.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($(#[$attribute])* $Verb($Asked),)*
        }

        impl Verb {
            /// Runs the verb; returns the exit status.
            pub(crate) fn run(self, options: &OutputOptions) -> Result<u8> {
                match self {
                    $(Verb::$Verb($asked) => {
                        let $options = options;
                        $run
                    })*
                }
            }
        }
    };
}

verbs! {
    List(identify::ListRequest) = |ask, to| {
        output::list(to, "devices", &identify::list(&ask)?, |devices| list::page(devices, ask.all))
    };
    Info(identify::InfoRequest) = |ask, to| {
        output::document(to, &identify::info(&ask)?, |card| cardscope_identity::page::page(card, ask.degrees))
    };
    Decode(identify::DecodeRequest) =
        |ask, to| output::document(to, &identify::decode(&ask)?, VerbDocument::page);
    Bench(cardscope_bench::request::BenchRequest) = |ask, to| page(&ask, to, VerbDocument::page);
    Check(PageCommand<cardscope_check::request::CheckRequest>) = |ask, to| ask.run(to, VerbDocument::page);
    Verify(PageCommand<cardscope_capacity::request::VerifyRequest>) = |ask, to| ask.run(to, |report| match ask.request().h2testw {
        true => cardscope_capacity::page::h2testw::page(report),
        false => report.page(),
    });
    Map(cardscope_flash::verb::MapRequest) = |ask, to| page(&ask, to, VerbDocument::page);
    Sustain(cardscope_endurance::verb::sustain::SustainRequest) =
        |ask, to| page(&ask.attended(&mut TypedTemperatures)?, to, VerbDocument::page);
    Endure(cardscope_endurance::verb::endure::EndureRequest) = |ask, to| page(&ask, to, VerbDocument::page);
    Observe(cardscope_host::verb::observe::ObserveRequest) = |ask, to| {
        let watch = cardscope_host::verb::observe::observe;
        let outcome = attended(to, None, |_, interrupt, events| watch(&ask, interrupt, events))?;
        output::outcome(to, &outcome, VerbDocument::page)
    };
    Format(cardscope_format::verb::format::FormatRequest) = |ask, to| page(&ask, to, VerbDocument::page);
    Fit(cardscope_format::verb::fit::FitRequest) = |ask, to| {
        output::outcome(to, &session::VerbOutcome::of(cardscope_format::verb::fit::fit(&ask)?, None), cardscope_format::page::fit::page)
    };
    Recipes(cardscope_bench::recipes::RecipesRequest) = |ask, to| match &ask.name {
        None => output::list(to, "recipes", &cardscope_bench::recipes::list()?, |all| cardscope_bench::page::recipes::list(all)),
        Some(name) => output::document(to, &cardscope_bench::recipes::show(name)?, cardscope_bench::page::recipes::page),
    };
    Jobs(cardscope_compare::verb::jobs::JobsRequest) = |ask, to| match &ask.name {
        None => output::list(to, "jobs", &cardscope_compare::verb::jobs::list()?, |all| cardscope_compare::page::jobs::list(all)),
        Some(name) => output::document(to, &cardscope_compare::verb::jobs::show(name)?, cardscope_compare::page::jobs::page),
    };
    Import(cardscope_import::verb::ImportRequest) = |ask, to| import::run(ask, to);
    Compare(compare::CompareCommand) = |ask, to| ask.run(to);
    Rank(cardscope_compare::verb::rank::RankRequest) =
        |ask, to| output::document(to, &cardscope_compare::verb::rank::rank(&ask)?, cardscope_compare::page::ranking::page);
    Report(report::ReportCommand) = |ask, to| ask.run(to);
    Restore(cardscope_restore::request::RestoreRequest) = |ask, to| restore::run(&ask, to);
    #[command(subcommand)]
    Sim(sim::SimCommand) = |ask, to| ask.run(to);
    Serve(cardscope_server::ServeRequest) = |ask, to| serve::run(&ask, to);
    Top(top::TopCommand) = |ask, to| ask.run(to);
    Archive(cardscope_archive::ArchiveRequest) = |ask, to| archive::run(ask, to);
    Doctor(cardscope_host::verb::doctor::DoctorRequest) = |ask, to| {
        output::outcome(to, &session::VerbOutcome::of(cardscope_host::verb::doctor::doctor(&ask)?, None), cardscope_host::page::doctor::page)
    };
}
