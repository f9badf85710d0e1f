//! `sim serve`: simulated cards as files and NBD exports, in real time.

use super::spec;
use crate::bench::Interrupt;
use crate::error::Failure;
use cardscope_simulator::serve::{self, Job, Measure, Options, Report, ServeError};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use std::path::PathBuf;

/// Serve cards as files and over NBD, in real time, until SIGTERM or Ctrl-C
#[derive(Debug, Clone, Default, Args)]
#[command(group = clap::ArgGroup::new("place").required(true).multiple(true).args(["mount", "nbd"]))]
pub struct Serving {
    /// NAME or sim:NAME[?key=value&…], several for several cards at once
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Empty directory to mount on, with the files card, truth.json and counters.json; of several cards each gets a
    /// directory DIR/NAME, made where absent
    #[arg(long, value_name = "DIR")]
    pub mount: Option<PathBuf>,
    /// Serve NBD there: host:port, or the path of a Unix socket; each card is an export of its name
    #[arg(long, value_name = "ADDR|SOCKET")]
    pub nbd: Option<String>,
    /// Answer at once instead of keeping the card's time
    #[arg(long)]
    pub no_timing: bool,
    /// Leave out measures that bring answers closer to their times, to see what each is worth
    #[arg(long, value_name = "MEASURE", value_delimiter = ',', value_parser = PossibleValuesParser::new(measures()))]
    pub without: Vec<String>,
}

/// What was counted while cards were served.
#[derive(Debug, Clone, Serialize)]
pub struct Served {
    /// Card by card, in the order given.
    pub cards: Vec<Report>,
}

/// The words of the measures that [`Serving::without`] may name.
fn measures() -> Vec<&'static str> {
    Measure::ALL.map(Measure::word).to_vec()
}

/// Serves cards until `stop` is raised. `say` is told where each is once it can be used, and at the end how late
/// the answers were.
///
/// # Errors
/// If there is no such card, or it cannot be served there.
pub fn serve(asked: &Serving, stop: &Interrupt, say: &mut dyn FnMut(&str)) -> Result<Served, Failure> {
    let job = job(asked)?;
    let ready = |server: &serve::Server| server.places().iter().for_each(|line| say(line));
    let cards = serve::serve(&job, stop, ready).map_err(failure)?;
    for card in &cards {
        let name = if cards.len() > 1 { format!("{}: ", card.name) } else { String::new() };
        card.lag_line().into_iter().for_each(|line| say(&format!("{name}{line}")));
        card.warning().into_iter().for_each(|line| say(&line));
    }
    Ok(Served { cards })
}

fn job(asked: &Serving) -> Result<Job, Failure> {
    let cards = asked.names.iter().map(|name| spec(name)).collect::<Result<_, _>>()?;
    let nbd = asked.nbd.as_deref().map(str::parse).transpose().map_err(failure)?;
    let without = asked.without.iter().map(|word| measure(word)).collect::<Result<_, _>>()?;
    let options = Options { timing: !asked.no_timing, without };
    Ok(Job { cards, mount: asked.mount.clone(), nbd, options })
}

fn measure(word: &str) -> Result<Measure, Failure> {
    let found = Measure::ALL.into_iter().find(|measure| measure.word() == word);
    found.ok_or_else(|| {
        Failure::refused(format!("{word:?} is no measure; there are: {}", measures().join(", ")))
    })
}

fn failure(error: ServeError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::io(error) }
}
