//! The verbs, each in one row: name, title, page; and where a server runs it, its options and what they do to the card.

use crate::request::{Effect, OptionError, VerbRequest, defaults, read};
use cardscope_model::answer::Answer;
use cardscope_model::card_map::MapReport;
use cardscope_model::check::CheckReport;
use cardscope_model::endure::EndureReport;
use cardscope_model::format::FormatReport;
use cardscope_model::identity::Identity;
use cardscope_model::log::CardLog;
use cardscope_model::mark_result::MarksReport;
use cardscope_model::observe::ObserveReport;
use cardscope_model::report::NewsTone;
use cardscope_model::restore::RestoreReport;
use cardscope_model::result::BenchReport;
use cardscope_model::sustain::SustainReport;
use cardscope_model::units::TemperatureUnit;
use cardscope_model::verify::VerifyReport;
use cardscope_page::tree::Page;
use cardscope_session::frame::Procedure;
use clap::{Args, Command};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;

/// A verb.
pub struct Verb {
    pub name: &'static str,
    /// Title in lists and forms.
    pub title: &'static str,
    page: fn(&Value) -> Option<Page>,
    task: Option<Task>,
}

type OptionsReader = fn(&'static str, &str, Map<String, Value>) -> Result<VerbRequest, OptionError>;

/// A verb that a server runs.
struct Task {
    command: fn() -> Command,
    defaults: fn() -> Map<String, Value>,
    read: OptionsReader,
}

/// A document of a verb.
pub trait VerbDocument {
    fn page(&self) -> Page;
}

macro_rules! verbs {
    ($($name:literal $title:literal $Document:ty => $page:expr $(, $Request:ty => $effect:expr)?;)*) => {
        /// The verbs, in the order of a menu.
        pub static VERBS: &[Verb] = &[$(Verb {
            name: $name,
            title: $title,
            page: render::<$Document>,
            task: verbs!(@task $name $($Request => $effect)?),
        }),*];

        $(impl VerbDocument for $Document {
            fn page(&self) -> Page {
                let page: fn(&Self) -> Page = $page;
                page(self)
            }
        })*
    };
    (@task $name:literal $Request:ty => $effect:expr) => {
        Some(Task {
            command: || <$Request>::augment_args(Command::new($name)),
            defaults: || defaults::<$Request>($name, "TARGET").unwrap_or_default(),
            read: |verb, target, options| read::<$Request>(verb, target, options, $effect),
        })
    };
    (@task $name:literal) => { None };
}

verbs! {
    "check" "Check" CheckReport => cardscope_check::page::page,
        cardscope_check::request::CheckRequest => |r| r.needs().into();
    "verify" "Verify capacity" VerifyReport => cardscope_capacity::page::page,
        cardscope_capacity::request::VerifyRequest => |r| r.needs().into();
    "bench" "Benchmark" BenchReport => cardscope_bench::page::page,
        cardscope_bench::request::BenchRequest => |r| r.needs().into();
    "map" "Map the flash" MapReport => cardscope_flash::page::page,
        cardscope_flash::verb::MapRequest => |r| r.needs().into();
    "sustain" "Sustained use" SustainReport => cardscope_endurance::page::sustain::sustain_page,
        cardscope_endurance::verb::sustain::SustainRequest => |r| r.needs().into();
    "format" "Format" FormatReport => cardscope_format::page::format::page,
        cardscope_format::verb::format::FormatRequest => |r| r.needs().into();
    "endure" "Wear out" EndureReport => cardscope_endurance::page::endure::endure_page,
        cardscope_endurance::verb::endure::EndureRequest => |_| Effect::WearsOut;
    "restore" "Restore data" RestoreReport => cardscope_restore::page::page,
        cardscope_restore::request::RestoreRequest => |_| Effect::Restores;
    "marks" "Judge marks" MarksReport => cardscope_check::page::marks;
    "observe" "Observe" ObserveReport => cardscope_host::page::observe::page;
    "info" "Identity" Identity => |card| cardscope_identity::page::page(card, TemperatureUnit::Celsius);
    "import" "Import" CardLog => cardscope_import::page::log_page;
}

impl Verb {
    /// The verb of that name.
    pub fn find(name: &str) -> Option<&'static Verb> {
        VERBS.iter().find(|verb| verb.name == name)
    }

    /// The verbs that a server runs.
    pub fn tasks() -> impl Iterator<Item = &'static Verb> {
        VERBS.iter().filter(|verb| verb.task.is_some())
    }

    /// The page of a document; `None` where the document is too early or too old for it.
    pub fn page(&self, document: &Value) -> Option<Page> {
        (self.page)(document)
    }

    /// Its part of the command line, where a server runs it.
    pub fn command(&self) -> Option<Command> {
        self.task.as_ref().map(|task| (task.command)())
    }

    /// Options that an API client may give, with the values that they have otherwise.
    pub fn defaults(&self) -> Map<String, Value> {
        self.task.as_ref().map(|task| (task.defaults)()).unwrap_or_default()
    }

    /// Parses the options of an API client for a target.
    ///
    /// # Errors
    /// A server does not run this verb, an option is unknown, or its value is.
    pub fn request(&self, target: &str, options: Map<String, Value>) -> Result<VerbRequest, OptionError> {
        match &self.task {
            Some(task) => (task.read)(self.name, target, options),
            None => Err(OptionError::UnknownVerb(self.name.to_owned())),
        }
    }
}

impl fmt::Debug for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Returns the page; `None` for an unknown verb, and for a document of another version that cannot be read.
pub fn page_of_document(kind: &str, document: &Value) -> Option<Page> {
    Verb::find(kind)?.page(document)
}

/// Returns answer and tone of the page, for a line of a list.
pub fn answer_of_document(kind: &str, document: &Value) -> Option<(Answer, NewsTone)> {
    page_of_document(kind, document).map(|page| (page.answer, page.tone))
}

fn render<T: DeserializeOwned + VerbDocument>(document: &Value) -> Option<Page> {
    T::deserialize(document).ok().map(|document| document.page())
}
