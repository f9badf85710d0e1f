//! `sim`: simulated cards, listed, explained, and served as a file.

use crate::output::{self, Options};
use crate::signals;
use cardscope_workbench::Failure;
use cardscope_workbench::bench::Interrupt;
use cardscope_workbench::simulate;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Simulated cards: list them, explain one, serve one as a file
#[derive(Debug, Subcommand)]
pub(crate) enum Sim {
    /// List the simulated cards
    List,
    /// Explain one
    Show {
        /// NAME or sim:NAME[?key=value&…]
        name: String,
    },
    Serve(Serve),
}

/// Serve one as a file that answers in real time, until SIGTERM or Ctrl-C
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// NAME or sim:NAME[?key=value&…]
    name: String,
    /// Empty directory to mount on; the card is the file `card` in it
    #[arg(long, value_name = "DIR")]
    mount: PathBuf,
    /// Answer at once instead of keeping the card's time
    #[arg(long)]
    no_timing: bool,
}

impl Sim {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        match self {
            Sim::List => {
                let cards = simulate::list()?;
                output::document(options, &serde_json::json!({ "cards": cards }), || {
                    simulate::list_text(&cards)
                })?;
            }
            Sim::Show { name } => {
                let card = simulate::show(&name)?;
                output::document(options, &card.document, || card.text.clone())?;
            }
            Sim::Serve(serve) => serve.run(options)?,
        }
        Ok(0)
    }
}

impl Serve {
    fn run(self, options: &Options) -> Result<(), Failure> {
        let interrupt = Interrupt::default();
        signals::raise_on_signals(&interrupt.flag())?;
        simulate::serve(&self.name, &self.mount, !self.no_timing, &interrupt, &mut |line| {
            if !options.quiet {
                output::note(line);
            }
        })
    }
}
