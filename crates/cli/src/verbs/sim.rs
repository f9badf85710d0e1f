//! `sim`: lists, explains and serves simulated cards, as files and over NBD.

use crate::output::{self, OutputOptions};
use crate::signals;
use cardscope_model::units::DecimalSize;
use cardscope_page::figure::{in_a_line, sentence};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_session::Result;
use cardscope_session::simulate::{self, ExplainedCard, ServeOptions, SimulatedInfo};
use clap::{Args, Subcommand};
use serde_json::Value;

/// List, explain and serve simulated cards
#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// List the simulated cards
    List,
    /// Explain a simulated card
    Show {
        /// NAME or sim:NAME[?key=value&…]
        name: String,
    },
    Random(RandomCommand),
    Serve(ServeOptions),
}

/// Show a random card within the ranges of real ones; use it as sim:random-SEED
#[derive(Debug, Args)]
pub(crate) struct RandomCommand {
    /// Which card: the same number is the same card on every machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many, from this seed on
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    count: u64,
    /// Print the cards as TOML, to be changed and used as sim:./FILE.toml
    #[arg(long, conflicts_with = "json")]
    toml: bool,
}

impl SimCommand {
    pub(crate) fn run(self, options: &OutputOptions) -> Result<u8> {
        match self {
            SimCommand::List => {
                let cards = simulate::list()?;
                output::list(options, "cards", &cards, |cards| list_page(cards))
            }
            SimCommand::Show { name } => {
                let card = simulate::show(&name)?;
                output::document(options, &card.document, |_| card_page(&card))
            }
            SimCommand::Random(random) => random.run(options),
            SimCommand::Serve(serving) => serve_cards(&serving, options),
        }
    }
}

impl RandomCommand {
    fn run(self, options: &OutputOptions) -> Result<u8> {
        let seeds = self.seed..self.seed.saturating_add(self.count);
        let cards = seeds.map(simulate::random).collect::<Result<Vec<_>, _>>()?;
        let documents: Vec<Value> = cards.iter().map(|card| card.document.clone()).collect();
        if self.toml {
            let files = cards.iter().filter_map(|card| card.document["toml"].as_str());
            return output::bytes(files.collect::<Vec<_>>().join("\n").as_bytes()).map(|()| 0);
        }
        output::list(options, "cards", &documents, |_| match &cards[..] {
            [one] => card_page(one),
            several => {
                let answer = format!("{} random cards, from seed {}.", several.len(), self.seed);
                let mut page = Page::plain(answer);
                several.iter().for_each(|card| {
                    page.add(&format!("{}: {}", card.name, card.title), description_blocks(card))
                });
                page
            }
        })
    }
}

fn list_page(cards: &[SimulatedInfo]) -> Page {
    let mut page = Page::plain(format!("{} simulated cards; use one as sim:NAME.", cards.len()));
    let table = Table::of(
        cards,
        &[
            ("name", &|card| card.name.clone()),
            ("size", &|card| DecimalSize(card.announced_bytes).in_table()),
            ("card", &|card| sentence(&card.title).trim_end_matches('.').to_owned()),
        ],
    );
    page.add("", [PageBlock::Table(table.left_aligned(["card"]))]);
    page.step("Explain one:", Some("cardscope sim show NAME".to_owned()));
    page.step("Test one:", cards.first().map(|card| format!("cardscope check sim:{}", card.name)));
    page
}

fn card_page(card: &ExplainedCard) -> Page {
    let mut page = Page::plain(in_a_line(&sentence(&card.title)));
    page.add("", description_blocks(card));
    page.step("Test it:", Some(format!("cardscope check sim:{}", card.name)));
    page
}

fn description_blocks(card: &ExplainedCard) -> impl Iterator<Item = PageBlock> {
    card.paragraphs.iter().cloned().map(PageBlock::Words)
}

fn serve_cards(serving: &ServeOptions, options: &OutputOptions) -> Result<u8> {
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
