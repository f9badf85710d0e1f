//! The verbs, each in one row: name, title, page; and where a server runs it, its options and what they do to the card.

use crate::request::{Effect, OptionError, VerbRequest, defaults, read};
use cardscope_endurance::verb::{endure, sustain};
use cardscope_model::units::Degrees;
use cardscope_page::tree::Page;
use cardscope_session::frame::Procedure;
use clap::{Args, Command};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt;

/// A verb.
pub struct Verb {
    pub name: &'static str,
    /// As lists and forms name it.
    pub title: &'static str,
    page: fn(&Value) -> Option<Page>,
    task: Option<Task>,
}

/// A verb that a server runs.
struct Task {
    command: fn() -> Command,
    defaults: fn() -> Map<String, Value>,
    read: fn(&'static Verb, &str, Map<String, Value>) -> Result<VerbRequest, OptionError>,
}

macro_rules! verbs {
    ($($name:literal $title:literal $page:expr $(, $Request:ty => $effect:expr)?;)*) => {
        /// The verbs, in the order of a menu.
        pub static VERBS: &[Verb] = &[$(Verb {
            name: $name,
            title: $title,
            page: |document| render(document, $page),
            task: verbs!(@task $name $($Request => $effect)?),
        }),*];
    };
    (@task $name:literal $Request:ty => $effect:expr) => {
        Some(Task {
            command: || <$Request>::augment_args(Command::new($name)),
            defaults: || defaults::<$Request>($name, "").unwrap_or_default(),
            read: |verb, target, options| read::<$Request>(verb, target, options, $effect),
        })
    };
    (@task $name:literal) => { None };
}

verbs! {
    "check" "Check" cardscope_check::page::page, cardscope_check::request::Request => |r| r.needs().into();
    "verify" "Verify capacity" cardscope_capacity::page::page, cardscope_capacity::request::Request => |r| r.needs().into();
    "bench" "Benchmark" cardscope_bench::page::page, cardscope_bench::request::Request => |r| r.needs().into();
    "map" "Map the flash" cardscope_flash::page::page, cardscope_flash::verb::Request => |r| r.needs().into();
    "sustain" "Sustained use" cardscope_endurance::page::sustain::page, sustain::Request => |r| r.needs().into();
    "format" "Format" cardscope_format::page::format::page, cardscope_format::verb::format::Request => |r| r.needs().into();
    "endure" "Wear out" cardscope_endurance::page::endure::page, endure::Request => |r| r.needs().into();
    "restore" "Restore data" cardscope_restore::page::page, cardscope_restore::request::Request => |_| Effect::Restores;
    "marks" "Judge marks" cardscope_check::page::marks;
    "observe" "Observe" cardscope_host::page::observe::page;
    "info" "Identity" |card| cardscope_identity::page::page(card, Degrees::Celsius);
    "import" "Import" cardscope_import::page::log;
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

    /// What an API client asks for: options in JSON, and the target that they are for.
    ///
    /// # Errors
    /// A server does not run this verb, an option is unknown, or its value is.
    pub fn request(
        &'static self,
        target: &str,
        options: Map<String, Value>,
    ) -> Result<VerbRequest, OptionError> {
        match &self.task {
            Some(task) => (task.read)(self, target, options),
            None => Err(OptionError::UnknownVerb(self.name.to_owned())),
        }
    }
}

impl fmt::Debug for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

fn render<T: DeserializeOwned>(document: &Value, page: impl FnOnce(&T) -> Page) -> Option<Page> {
    T::deserialize(document).ok().map(|document| page(&document))
}
