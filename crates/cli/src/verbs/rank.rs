//! `rank`: cards in order, for a job or by a test.

use super::compare::Choice;
use crate::output::{self, Options};
use cardscope_session::Failure;
use cardscope_session::rank::{self, By, GroupBy, Request};
use clap::Args;
use clap::builder::PossibleValuesParser;

/// Order cards for a job, or by one test
///
/// A job is amounts of work and what a person notices: pi-boot, camera-4k, game-load, game-move, android, server-log,
/// database, mostly-4k, all-round, or a TOML file of your own (docs/jobs.md). Cards that cannot be told apart share a
/// place, as do those whose difference nobody would notice.
#[derive(Debug, Args)]
pub(crate) struct Rank {
    /// Only these cards; without any, all
    #[arg(value_name = "CARD")]
    cards: Vec<String>,
    /// The job: a name, or FILE.toml
    #[arg(long = "for", value_name = "JOB", required_unless_present = "test", conflicts_with = "test")]
    job: Option<String>,
    /// As the host lets them be: pi-2, pi-3, pi-4, pi-5, slot-25, usb2, sd-express, or FILE.toml
    #[arg(long, value_name = "HOST")]
    on: Option<String>,
    /// What a mark, a maker, a year or a capacity says about it
    #[arg(long, value_name = "WORD", value_parser = PossibleValuesParser::new(GroupBy::ALL.map(|(word, _)| word)))]
    group_by: Option<String>,
    #[command(flatten)]
    choice: Choice,
}

impl Rank {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let ranking = rank::rank(&self.request()?)?;
        output::document(options, &ranking, cardscope_report::ranking::text)
    }

    fn request(self) -> Result<Request, Failure> {
        let Choice { condition, test, own, archive } = self.choice;
        let by = match (self.job, test.as_slice()) {
            (Some(job), _) => By::Job(job),
            (None, [test]) => By::Test(*test),
            (None, _) => {
                return Err(Failure::refused("--test once, or --for JOB: cards are ordered by one thing"));
            }
        };
        let word = self.group_by;
        let group_by = GroupBy::ALL.into_iter().find(|(w, _)| word.as_deref() == Some(w)).map(|(_, by)| by);
        let (settings, cards) = (condition, self.cards);
        Ok(Request { by, cards, settings, on: self.on, group_by, without_collection: own, archive })
    }
}
