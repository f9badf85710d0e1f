//! `sim` verb: lists and explains simulated cards, and serves them as files and NBD exports in real time.

use crate::error::{Failure, Result};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_simulator::archetype::describe_card;
use cardscope_simulator::serve::{self, LagMeasure, ServeError, ServeJob, ServeReport, ServingOptions};
use cardscope_simulator::{TargetSpec, load_builtin, random, target_spec};
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SimulatedInfo {
    /// Name after `sim:`.
    pub name: String,
    pub title: String,
    pub announced_bytes: u64,
}

#[derive(Debug, Clone)]
pub struct ExplainedCard {
    /// Name after `sim:`.
    pub name: String,
    pub title: String,
    /// Paragraphs, one for each part of the card.
    pub paragraphs: Vec<String>,
    /// Ground truth and all parameters.
    pub document: Value,
}

pub fn list_cards() -> Result<Vec<SimulatedInfo>> {
    let cards = load_builtin().map_err(Failure::io)?;
    let line = |a: &cardscope_simulator::Archetype| SimulatedInfo {
        name: a.name.clone(),
        title: a.title.clone(),
        announced_bytes: a.announced_bytes,
    };
    Ok(cards.iter().map(line).collect())
}

pub fn explain_card(name: &str) -> Result<ExplainedCard> {
    let spec = parse_spec(name)?;
    let card = &spec.archetype;
    let document = json!({ "name": card.name, "seed": spec.seed, "truth": card.truth, "archetype": card });
    let (name, title) = (card.name.clone(), card.title.clone());
    Ok(ExplainedCard { name, title, paragraphs: describe_card(card), document })
}

/// Explains the random card of a seed. Its `document` also holds the card file.
pub fn explain_random_card(seed: u64) -> Result<ExplainedCard> {
    let mut shown = explain_card(&format!("{}{seed}", random::RANDOM_PREFIX))?;
    shown.document["toml"] = random::random_card(seed).to_toml().into();
    Ok(shown)
}

/// Explains a card for clients that must not access files: a built-in or random card without stored state.
/// Refuses other cards, and cards that load or save state or need much memory.
pub fn explain_for_client(target: &str) -> Result<ExplainedCard> {
    let name = target.strip_prefix(target_spec::SIM_PREFIX).unwrap_or(target);
    let name = name.split('?').next().unwrap_or_default();
    let random = name.starts_with(random::RANDOM_PREFIX);
    // A name with `/` or `.` is the path of a card file.
    if name.contains(['/', '.']) || !(random || list_cards()?.iter().any(|card| card.name == name)) {
        return Err(Failure::refused(format!("there is no simulated card {name:?}")));
    }
    let storage = parse_spec(target)?.storage;
    if storage.load.is_some() || storage.save.is_some() || storage.memory_bytes > MAX_CLIENT_MEMORY {
        let why = "state, save and more memory are for the command line only";
        return Err(Failure::refused(format!("{target:?}: {why}")));
    }
    explain_card(target)
}

/// Memory limit of a card that a client requests, in bytes.
const MAX_CLIENT_MEMORY: u64 = 256 << 20;

/// Parses the name of a simulated card with its overrides, with or without the prefix `sim:`.
fn parse_spec(name: &str) -> Result<TargetSpec> {
    let full = match target_spec::is_simulated(name) {
        true => name.to_owned(),
        false => format!("{}{name}", target_spec::SIM_PREFIX),
    };
    target_spec::parse(&full).map_err(Failure::refused)
}

/// Serve cards as files and over NBD, in real time, until SIGTERM or Ctrl-C
#[derive(Debug, Clone, Default, Args)]
#[command(group = clap::ArgGroup::new("place").required(true).multiple(true).args(["mount", "nbd"]))]
pub struct ServeOptions {
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
    #[arg(long, value_name = "MEASURE", value_delimiter = ',', value_parser = PossibleValuesParser::new(measure_names()))]
    pub without: Vec<String>,
}

/// Names of the timing measures that [`ServeOptions::without`] accepts.
fn measure_names() -> Vec<&'static str> {
    LagMeasure::ALL.map(LagMeasure::name).to_vec()
}

/// Serves cards until `stop` is raised, and returns their counters in the given order. `say` gets the address of each card
/// once it is ready, and at the end the lag of the answers.
pub fn serve_cards(
    options: &ServeOptions,
    stop: &InterruptFlag,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<ServeReport>> {
    let job = serve_job(options)?;
    let ready = |server: &serve::CardServer| server.place_lines().iter().for_each(|line| say(line));
    let cards = serve::serve_cards(&job, stop, ready).map_err(serve_failure)?;
    for card in &cards {
        let name = if cards.len() > 1 { format!("{}: ", card.name) } else { String::new() };
        card.lag_line().into_iter().for_each(|line| say(&format!("{name}{line}")));
        card.warning().into_iter().for_each(|line| say(&line));
    }
    Ok(cards)
}

fn serve_job(request: &ServeOptions) -> Result<ServeJob> {
    let cards = request.names.iter().map(|name| parse_spec(name)).collect::<Result<_, _>>()?;
    let nbd = request.nbd.as_deref().map(str::parse).transpose().map_err(serve_failure)?;
    let without = request.without.iter().map(|word| parse_measure(word)).collect::<Result<_, _>>()?;
    let options = ServingOptions { timing: !request.no_timing, without };
    Ok(ServeJob { cards, mount: request.mount.clone(), nbd, options })
}

fn parse_measure(word: &str) -> Result<LagMeasure> {
    let found = LagMeasure::ALL.into_iter().find(|measure| measure.name() == word);
    found.ok_or_else(|| {
        let names = measure_names().join(", ");
        Failure::refused(format!("unknown measure {word:?}; the measures are: {names}"))
    })
}

fn serve_failure(error: ServeError) -> Failure {
    if error.is_refusal() { Failure::refused(error) } else { Failure::io(error) }
}
