//! Dispatch of the verbs. The crate of a verb defines its request and its page; this module has files for verbs that exist
//! only on the command line.

mod archive;
mod compare;
mod execution;

mod list;

mod sim;
mod top;

use crate::output::{self, OutputOptions};
use crate::signals;
use crate::terminal::TypedTemperatures;
use cardscope_identity::verb as identify;
use cardscope_import::verb::{self as import, ImportRequest};
use cardscope_model::shell::shell_quote_path;
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_restore::verb::{self as restore, RestoreRequest};
use cardscope_server::{ServeRequest, StartedServer};
use cardscope_session as session;
use cardscope_session::Result;
use cardscope_verbs::list::VerbDocument;
use clap::Subcommand;
use execution::{PageCommand, run_and_print, with_progress};
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

/// Defines the enum of verbs in groups, with the request of each and the expression that runs it.
macro_rules! verbs {
    ($($group:literal { $(
        $(#[$attribute:meta])* $Verb:ident($Asked:ty) = |$asked:pat_param, $options:pat_param| $run:expr;
    )* })*) => {
        /// Verbs of the command line.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($($(#[$attribute])* $Verb($Asked),)*)*
        }

        impl Verb {
            /// Variants by group, in the order in which a user needs them.
            pub(crate) const GROUPS: &[(&str, &[&str])] = &[$(($group, &[$(stringify!($Verb)),*])),*];

            /// Runs the verb; returns the exit status.
            pub(crate) fn run(self, options: &OutputOptions) -> Result<u8> {
                match self {
                    $($(Verb::$Verb($asked) => {
                        let $options = options;
                        $run
                    })*)*
                }
            }
        }
    };
}

verbs! {
    "Look" {
        List(identify::ListRequest) = |ask, to| {
            output::print_list(to, "devices", &identify::list_devices(&ask)?, |devices| list::devices_page(devices, ask.all))
        };
        Info(identify::InfoRequest) = |ask, to| {
            output::print_document(to, &identify::read_identity(&ask)?, |card| cardscope_identity::page::page(card, ask.degrees))
        };
        Decode(identify::DecodeRequest) =
            |ask, to| output::print_document(to, &identify::decode_registers(&ask)?, VerbDocument::page);
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
    }
    "Test" {
        Check(PageCommand<cardscope_check::request::CheckRequest>) = |ask, to| ask.run(to, VerbDocument::page);
        Verify(PageCommand<cardscope_capacity::request::VerifyRequest>) = |ask, to| ask.run(to, |report| match ask.request.h2testw {
            true => cardscope_capacity::page::h2testw::page(report),
            false => report.page(),
        });
        Bench(cardscope_bench::request::BenchRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
        Map(cardscope_flash::verb::MapRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
        Sustain(cardscope_endurance::verb::sustain::SustainRequest) =
            |ask, to| run_and_print(&ask.with_manual_readings(&mut TypedTemperatures)?, to, VerbDocument::page);
        Endure(cardscope_endurance::verb::endure::EndureRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
        Format(cardscope_format::verb::format::FormatRequest) = |ask, to| run_and_print(&ask, to, VerbDocument::page);
        Restore(RestoreRequest) = |ask, to| restore_data(&ask, to);
    }
    "Watch" {
        Serve(ServeRequest) = |ask, to| serve(&ask, to);
        Top(top::TopCommand) = |ask, to| ask.run(to);
        Observe(cardscope_host::verb::observe::ObserveRequest) = |ask, to| {
            let watch = cardscope_host::verb::observe::observe_device;
            let outcome = with_progress(to, None, |_, interrupt, events| watch(&ask, interrupt, events))?;
            output::print_outcome(to, &outcome, VerbDocument::page)
        };
        Doctor(cardscope_host::verb::doctor::DoctorRequest) = |ask, to| {
            output::print_outcome(to, &session::VerbOutcome::from_report(cardscope_host::verb::doctor::check_machine(&ask)?, None), cardscope_host::page::doctor::page)
        };
    }
    "Compare" {
        Compare(compare::CompareCommand) = |ask, to| ask.run(to);
        Rank(cardscope_compare::verb::rank::RankRequest) =
            |ask, to| output::print_document(to, &cardscope_compare::verb::rank::rank_cards(&ask)?, cardscope_compare::page::ranking::ranking_page);
        Report(compare::ReportCommand) = |ask, to| ask.run(to);
    }
    "Simulate" {
        #[command(subcommand)]
        Sim(sim::SimCommand) = |ask, to| ask.run(to);
    }
    "Archive" {
        Archive(cardscope_archive::ArchiveRequest) = |ask, to| archive::run(ask, to);
        Import(ImportRequest) = |ask, to| import_logs(ask, to);
    }
}

/// Imports logs of other tools into the archive.
fn import_logs(asked: ImportRequest, options: &OutputOptions) -> Result<u8> {
    if asked.list_formats {
        let formats = import::supported_formats();
        return output::print_list(options, "formats", &serde_json::json!(formats), |_| {
            let mut page = Page::from_answer(format!("{} formats are understood.", formats.len()));
            let table = Table::from_items(
                &formats,
                &[("format", &|f| f.name.to_owned()), ("logs of", &|f| f.title.to_owned())],
            );
            page.add_section("", [PageBlock::Table(table.left_aligned(["logs of"]))]);
            page
        });
    }
    let asked = ImportRequest { detailed: options.json || options.details, ..asked };
    let outcome = with_progress(options, None, |_, interrupt, progress| {
        import::run_import(&asked, interrupt, progress)
    })?;
    output::print_outcome(options, &outcome, cardscope_import::page::import_page)
}

/// Restores saved data of an interrupted test, or an image of a card; lists what waits without a file.
fn restore_data(asked: &RestoreRequest, options: &OutputOptions) -> Result<u8> {
    if asked.file.is_none() {
        return output::print_list(options, "journals", &restore::pending_journals()?, |journals| {
            cardscope_restore::page::list_page(journals)
        });
    }
    let consent = asked.consent.yes_destroy.clone();
    let outcome = with_progress(options, consent, |consent, interrupt, progress| {
        restore::restore(asked, consent, interrupt, progress)
    })?;
    output::print_outcome(options, &outcome, VerbDocument::page)
}

/// Runs the web server and opens a browser.
fn serve(asked: &ServeRequest, options: &OutputOptions) -> Result<u8> {
    let mut written = Ok(());
    cardscope_server::serve(asked, &signals::shared_interrupt(), &mut |started| {
        started.remarks.iter().for_each(|remark| output::print_note(remark));
        written = match options.json {
            true => output::print_json(&serde_json::json!({ "address": started.link })),
            false => output::print_bytes(format!("Open {}\n", printed_address(asked, started)).as_bytes()),
        };
        if let Some(page) = &started.redirect_page {
            open_browser(page);
        }
    })?;
    written.map(|()| 0)
}

/// URL with the token, unless the user has the token elsewhere: output of a service goes to a log that others may read.
fn printed_address(asked: &ServeRequest, started: &StartedServer) -> String {
    match (&asked.token_file, &started.redirect_page) {
        (Some(file), _) => format!("{} and enter the token in {}", started.address, shell_quote_path(file)),
        (None, Some(_)) if !std::io::stdout().is_terminal() => started.address.clone(),
        _ => started.link.clone(),
    }
}

/// Opens the page in the desktop's browser. Failure is only reported, since the address was printed.
fn open_browser(page: &Path) {
    let started = Command::new("xdg-open")
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        let why = format!("no browser can be opened ({error}); open the address yourself");
        output::print_note(&format!("warning: {why}"));
    }
}
