//! `sim`: simulated cards, listed, explained, and served as files and over NBD.

use crate::output::{self, Options};
use crate::signals;
use cardscope_session::Result;
use cardscope_session::simulate::{self, Serving};
use clap::{Args, Subcommand};
use serde_json::Value;

/// List, explain and serve simulated cards
#[derive(Debug, Subcommand)]
pub(crate) enum Sim {
    /// List the simulated cards
    List,
    /// Explain one
    Show {
        /// NAME or sim:NAME[?key=value&…]
        name: String,
    },
    Random(Random),
    Serve(Serving),
}

/// A random card within the ranges of real ones, with its truth; use it as sim:random-SEED
#[derive(Debug, Args)]
pub(crate) struct Random {
    /// Which card: the same number is the same card on every machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many, from this seed on
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    count: u64,
    /// Print the cards as files instead of words; change one and use it as sim:./FILE.toml
    #[arg(long, conflicts_with = "json")]
    toml: bool,
}

impl Sim {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        match self {
            Sim::List => {
                let cards = simulate::list()?;
                output::list(options, "cards", &cards, |_| simulate::list_text(&cards))
            }
            Sim::Show { name } => {
                let card = simulate::show(&name)?;
                output::document(options, &card.document, |_| card.text.clone())
            }
            Sim::Random(random) => random.run(options),
            Sim::Serve(serving) => serve(&serving, options),
        }
    }
}

impl Random {
    fn run(self, options: &Options) -> Result<u8> {
        let seeds = self.seed..self.seed.saturating_add(self.count);
        let cards = seeds.map(simulate::random).collect::<Result<Vec<_>, _>>()?;
        let documents: Vec<Value> = cards.iter().map(|card| card.document.clone()).collect();
        let text = |card: &simulate::Shown| match card.document["toml"].as_str() {
            Some(file) if self.toml => file.to_owned(),
            _ => card.text.clone(),
        };
        output::list(options, "cards", &documents, |_| cards.iter().map(text).collect::<Vec<_>>().join("\n"))
    }
}

fn serve(serving: &Serving, options: &Options) -> Result<u8> {
    let cards = simulate::serve(serving, &signals::interrupt(), &mut |line| {
        if !options.quiet {
            output::note(line);
        }
    })?;
    match options.json {
        true => output::json(&serde_json::json!({ "cards": cards })).map(|()| 0),
        false => Ok(0),
    }
}
