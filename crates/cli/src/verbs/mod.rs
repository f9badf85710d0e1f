//! Dispatch of the verbs. The crate of a verb defines its request and its page; this module has files for verbs that exist
//! only on the command line.

mod archive;
mod compare;
mod execution;
mod import;
mod list;
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
use execution::{PageCommand, run_and_print, with_progress};

/// Defines the enum of verbs with the request of each and the expression that runs it.
macro_rules! verbs {
    ($($(#[$attribute:meta])* $Verb:ident($Asked:ty) = |$asked:pat_param, $options:pat_param| $run:expr;)*) => {
        /// Verbs of the command line.
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
        output::print_list(to, "devices", &identify::list_devices(&ask)?, |devices| list::devices_page(devices, ask.all))
    };
    Info(identify::InfoRequest) = |ask, to| {
        output::print_document(to, &identify::read_identity(&ask)?, |card| cardscope_identity::page::page(card, ask.degrees))
    };
    Decode(identify::DecodeRequest) =
        |ask, to| output::print_document(to, &identify::decode_registers(&ask)?, VerbDocument::page);
    Bench(cardscope_bench::request::BenchRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
    Check(PageCommand<cardscope_check::request::CheckRequest>) = |ask, to| ask.run(to, VerbDocument::page);
    Verify(PageCommand<cardscope_capacity::request::VerifyRequest>) = |ask, to| ask.run(to, |report| match ask.request().h2testw {
        true => cardscope_capacity::page::h2testw::page(report),
        false => report.page(),
    });
    Map(cardscope_flash::verb::MapRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
    Sustain(cardscope_endurance::verb::sustain::SustainRequest) =
        |ask, to| run_and_print(&ask.with_manual_readings(&mut TypedTemperatures)?, to, VerbDocument::page);
    Endure(cardscope_endurance::verb::endure::EndureRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
    Observe(cardscope_host::verb::observe::ObserveRequest) = |ask, to| {
        let watch = cardscope_host::verb::observe::observe_device;
        let outcome = with_progress(to, None, |_, interrupt, events| watch(&ask, interrupt, events))?;
        output::print_outcome(to, &outcome, VerbDocument::page)
    };
    Format(cardscope_format::verb::format::FormatRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
    Fit(cardscope_format::verb::fit::FitRequest) = |ask, to| {
        output::print_outcome(to, &session::VerbOutcome::from_report(cardscope_format::verb::fit::fit(&ask)?, None), cardscope_format::page::fit::page)
    };
    Recipes(cardscope_bench::recipes::RecipesRequest) = |ask, to| match &ask.name {
        None => output::print_list(to, "recipes", &cardscope_bench::recipes::list_recipes()?, |all| cardscope_bench::page::recipes::list_page(all)),
        Some(name) => output::print_document(to, &cardscope_bench::recipes::explain_named(name)?, cardscope_bench::page::recipes::recipe_page),
    };
    Jobs(cardscope_compare::verb::jobs::JobsRequest) = |ask, to| match &ask.name {
        None => output::print_list(to, "jobs", &cardscope_compare::verb::jobs::builtin_jobs()?, |all| cardscope_compare::page::jobs::job_list_page(all)),
        Some(name) => output::print_document(to, &cardscope_compare::verb::jobs::find_job(name)?, cardscope_compare::page::jobs::job_page),
    };
    Import(cardscope_import::verb::ImportRequest) = |ask, to| import::run(ask, to);
    Compare(compare::CompareCommand) = |ask, to| ask.run(to);
    Rank(cardscope_compare::verb::rank::RankRequest) =
        |ask, to| output::print_document(to, &cardscope_compare::verb::rank::rank_cards(&ask)?, cardscope_compare::page::ranking::ranking_page);
    Report(report::ReportCommand) = |ask, to| ask.run(to);
    Restore(cardscope_restore::request::RestoreRequest) = |ask, to| restore::run(&ask, to);
    #[command(subcommand)]
    Sim(sim::SimCommand) = |ask, to| ask.run(to);
    Serve(cardscope_server::ServeRequest) = |ask, to| serve::run(&ask, to);
    Top(top::TopCommand) = |ask, to| ask.run(to);
    Archive(cardscope_archive::ArchiveRequest) = |ask, to| archive::run(ask, to);
    Doctor(cardscope_host::verb::doctor::DoctorRequest) = |ask, to| {
        output::print_outcome(to, &session::VerbOutcome::from_report(cardscope_host::verb::doctor::check_machine(&ask)?, None), cardscope_host::page::doctor::page)
    };
}
