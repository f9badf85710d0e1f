//! `sim`: lists, explains and serves simulated cards, as files and over NBD.

use crate::output::{self, OutputOptions};
use crate::signals;
use cardscope_model::units::DecimalSize;
use cardscope_page::figure::{answer_line, to_sentence};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock};
use cardscope_session::Result;
use cardscope_session::simulated_cards::{self, ExplainedCard, ServeOptions, SimulatedInfo};
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
    /// Number of the card: the same number is the same card on every machine
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of cards, from this seed on
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
                let cards = simulated_cards::list_cards()?;
                output::print_list(options, "cards", &cards, |cards| list_page(cards))
            }
            SimCommand::Show { name } => {
                let card = simulated_cards::explain_card(&name)?;
                output::print_document(options, &card.document, |_| card_page(&card))
            }
            SimCommand::Random(random) => random.run(options),
            SimCommand::Serve(serving) => serve_cards(&serving, options),
        }
    }
}

impl RandomCommand {
    fn run(self, options: &OutputOptions) -> Result<u8> {
        let seeds = self.seed..self.seed.saturating_add(self.count);
        let cards = seeds.map(simulated_cards::explain_random_card).collect::<Result<Vec<_>, _>>()?;
        let documents: Vec<Value> = cards.iter().map(|card| card.document.clone()).collect();
        if self.toml {
            let files = cards.iter().filter_map(|card| card.document["toml"].as_str());
            return output::print_bytes(files.collect::<Vec<_>>().join("\n").as_bytes()).map(|()| 0);
        }
        output::print_list(options, "cards", &documents, |_| match &cards[..] {
            [one] => card_page(one),
            several => {
                let answer = format!("{} random cards, from seed {}.", several.len(), self.seed);
                let mut page = Page::from_answer(answer);
                several.iter().for_each(|card| {
                    page.add_section(&format!("{}: {}", card.name, card.title), description_blocks(card))
                });
                page
            }
        })
    }
}

fn list_page(cards: &[SimulatedInfo]) -> Page {
    let mut page = Page::from_answer(format!("{} simulated cards; use one as sim:NAME.", cards.len()));
    let table = Table::from_items(
        cards,
        &[
            ("name", &|card| card.name.clone()),
            ("size", &|card| DecimalSize(card.announced_bytes).in_table()),
            ("card", &|card| to_sentence(&card.title).trim_end_matches('.').to_owned()),
        ],
    );
    page.add_section("", [PageBlock::Table(table.left_aligned(["card"]))]);
    page.add_step("Explain one:", Some("cardscope sim show NAME".to_owned()));
    page.add_step("Test one:", cards.first().map(|card| format!("cardscope check sim:{}", card.name)));
    page
}

fn card_page(card: &ExplainedCard) -> Page {
    let mut page = Page::from_answer(answer_line(&to_sentence(&card.title)));
    page.add_section("", description_blocks(card));
    page.add_step("Test it:", Some(format!("cardscope check sim:{}", card.name)));
    page
}

fn description_blocks(card: &ExplainedCard) -> impl Iterator<Item = PageBlock> {
    card.paragraphs.iter().cloned().map(PageBlock::Words)
}

fn serve_cards(serving: &ServeOptions, options: &OutputOptions) -> Result<u8> {
    let cards = simulated_cards::serve_cards(serving, &signals::shared_interrupt(), &mut |line| {
        if !options.quiet {
            output::print_note(line);
        }
    })?;
    match options.json {
        true => output::print_json(&serde_json::json!({ "cards": cards })).map(|()| 0),
        false => Ok(0),
    }
}
