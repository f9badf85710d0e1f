//! `compare`: cards beside each other.

use crate::output::{self, Options};
use cardscope_model::setting::Wanted;
use cardscope_model::test_name::TestName;
use cardscope_report::comparison::{self, How};
use cardscope_session::Failure;
use cardscope_session::compare::{self, Request};
use clap::Args;
use std::path::PathBuf;

/// Compare cards: average, best, worst and median with intervals, and which differences are real
///
/// A card is named by words of its name or the beginning of its id; NAME@WORD=VALUE,... takes only what was measured so
/// (`"ADATA@cooling=active"`). A card that was measured under several settings stands there once for each of them. What
/// differs besides the card is listed, and then the card is not blamed for it. The cards of five published reports come
/// with the program.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Cards; without any, all of the archive
    #[arg(value_name = "CARD")]
    cards: Vec<String>,
    #[command(flatten)]
    choice: Choice,
    /// Divide each card by WORD: cooling, board, reader, size, recipe, state ... or age (months)
    #[arg(long, value_name = "WORD", conflicts_with = "pool")]
    by: Option<String>,
    /// Mix everything that was measured of a card
    #[arg(long)]
    pool: bool,
    /// Show the figures as the tools printed them
    #[arg(long)]
    as_printed: bool,
    /// Show every run, too
    #[arg(long)]
    every_run: bool,
}

/// Which measurements are meant; the same for several verbs.
#[derive(Debug, Args)]
pub(crate) struct Choice {
    /// Only what was measured so, e.g. cooling=active, recipe=cdm_fio, size=1GiB; may be given several times
    #[arg(long, value_name = "WORD=VALUE", value_parser = Wanted::parse)]
    pub(crate) condition: Vec<Wanted>,
    /// Only this test, e.g. "RND4K Q1T1 write"; may be given several times
    #[arg(long, value_name = "TEST")]
    pub(crate) test: Vec<TestName>,
    /// Leave out the cards that come with the program
    #[arg(long)]
    pub(crate) own: bool,
    /// Archive to read: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    pub(crate) archive: Option<PathBuf>,
}

impl Choice {
    /// What is compared of these cards.
    pub(crate) fn compared(self, cards: Vec<String>, by: Option<String>, pool: bool) -> Request {
        let Choice { condition, test, own, archive } = self;
        Request { cards, settings: condition, tests: test, by, pool, without_collection: own, archive }
    }
}

impl Compare {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let how = How { as_printed: self.as_printed, every_run: self.every_run };
        let comparison = compare::compare(&self.request())?;
        output::document(options, &comparison, |comparison| comparison::text(comparison, how))
    }

    fn request(self) -> Request {
        self.choice.compared(self.cards, self.by, self.pool)
    }
}
