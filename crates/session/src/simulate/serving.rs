//! `sim serve`: simulated cards as files and NBD exports, in real time.

use super::spec;
use crate::bench::Interrupt;
use crate::error::Failure;
use cardscope_simulator::serve::{self, Job, Measure, Options, Report, ServeError};
use serde::Serialize;
use std::path::PathBuf;

/// What to serve, as the user asked for it.
#[derive(Debug, Clone, Default)]
pub struct Serving {
    /// `NAME…` or `sim:NAME…`, at least one.
    pub names: Vec<String>,
    /// Directory of one card, or of a directory for each of several.
    pub mount: Option<PathBuf>,
    /// `host:port`, or the path of a Unix socket.
    pub nbd: Option<String>,
    /// Answer at once instead of keeping the card's time.
    pub at_once: bool,
    /// Measures against the host's latency that are left out, by their words.
    pub without: Vec<String>,
}

/// What was counted while cards were served.
#[derive(Debug, Clone, Serialize)]
pub struct Served {
    /// Card by card, in the order given.
    pub cards: Vec<Report>,
}

/// The words of the measures that [`Serving::without`] may name.
pub fn measures() -> Vec<&'static str> {
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
    let options = Options { timing: !asked.at_once, without };
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
