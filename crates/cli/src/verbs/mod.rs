//! The verbs: what each is asked, and the page that its document becomes. A verb's request stands in `session`, where its
//! options are described; what only this program does has a file here.

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

use crate::output::{self, Options};
use crate::terminal::TypedTemperatures;
use cardscope_model::units::Degrees;
use cardscope_report as pages;
use cardscope_session::{self as session, Result, identify};
use clap::Subcommand;
use page::{Paged, attended, page};

/// The verbs of the command line: what each is asked, and how that is carried out and shown.
macro_rules! verbs {
    ($($(#[$attribute:meta])* $Verb:ident($Asked:ty) = |$asked:pat_param, $options:pat_param| $run:expr;)*) => {
        /// What Cardscope does.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Verb {
            $($(#[$attribute])* $Verb($Asked),)*
        }

        impl Verb {
            /// Does it; gives the exit status.
            pub(crate) fn run(self, options: &Options) -> Result<u8> {
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
        output::document(to, &identify::info(&ask)?, |card| pages::identity::page(card, ask.degrees))
    };
    Decode(identify::DecodeRequest) =
        |ask, to| output::document(to, &identify::decode(&ask)?, |card| pages::identity::page(card, Degrees::Celsius));
    Bench(session::bench::Request) = |ask, to| page(&ask, to, pages::bench::page);
    Check(Paged<session::check::Request>) = |ask, to| ask.run(to, pages::check::page);
    Verify(Paged<session::verify::Request>) = |ask, to| ask.run(to, |report| match ask.request().h2testw {
        true => pages::h2testw::page(report),
        false => pages::verify::page(report),
    });
    Map(session::map::Request) = |ask, to| page(&ask, to, pages::card_map::page);
    Sustain(session::sustain::Request) =
        |ask, to| page(&ask.attended(&mut TypedTemperatures)?, to, pages::sustain::page);
    Endure(session::endure::Request) = |ask, to| page(&ask, to, pages::endure::page);
    Observe(session::observe::Request) = |ask, to| {
        let watch = session::observe::observe;
        let outcome = attended(to, None, |_, interrupt, events| watch(&ask, interrupt, events))?;
        output::outcome(to, &outcome, pages::observe::page)
    };
    Format(session::format::Request) = |ask, to| page(&ask, to, pages::format::page);
    Fit(session::fit::Request) = |ask, to| {
        output::outcome(to, &session::Outcome::of(session::fit::fit(&ask)?, None), pages::fit::page)
    };
    Recipes(session::recipes::Request) = |ask, to| match &ask.name {
        None => output::list(to, "recipes", &session::recipes::list()?, |all| pages::recipes::list(all)),
        Some(name) => output::document(to, &session::recipes::show(name)?, pages::recipes::page),
    };
    Jobs(session::jobs::Request) = |ask, to| match &ask.name {
        None => output::list(to, "jobs", &session::jobs::list()?, |all| pages::jobs::list(all)),
        Some(name) => output::document(to, &session::jobs::show(name)?, pages::jobs::page),
    };
    Import(session::import::Request) = |ask, to| import::run(ask, to);
    Compare(compare::Compare) = |ask, to| ask.run(to);
    Rank(session::rank::Request) =
        |ask, to| output::document(to, &session::rank::rank(&ask)?, pages::ranking::page);
    Report(report::Report) = |ask, to| ask.run(to);
    Restore(session::restore::Request) = |ask, to| restore::run(&ask, to);
    #[command(subcommand)]
    Sim(sim::Sim) = |ask, to| ask.run(to);
    Serve(cardscope_server::Request) = |ask, to| serve::run(&ask, to);
    Top(top::Top) = |ask, to| ask.run(to);
    Archive(session::archive::Request) = |ask, to| archive::run(ask, to);
    Doctor(session::doctor::Request) = |ask, to| {
        output::outcome(to, &session::Outcome::of(session::doctor::doctor(&ask)?, None), pages::doctor::page)
    };
}
