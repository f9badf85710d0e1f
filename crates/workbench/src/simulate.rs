//! `sim`: simulated cards as people see them.

use crate::bench::Interrupt;
use crate::error::Failure;
use cardscope_simulator::{TargetSpec, archetypes, describe, serve, serve::ServeError, summary, target_spec};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// A line of the list.
#[derive(Debug, Clone, Serialize)]
pub struct Card {
    /// Its name behind `sim:`.
    pub name: String,
    /// What it stands for.
    pub title: String,
    /// Bytes that it announces.
    pub announced_bytes: u64,
    #[serde(skip)]
    line: String,
}

/// A card explained.
#[derive(Debug, Clone)]
pub struct Shown {
    /// In words.
    pub text: String,
    /// The archetype and its truth.
    pub document: Value,
}

/// All simulated cards.
///
/// # Errors
/// If a built-in card is broken.
pub fn list() -> Result<Vec<Card>, Failure> {
    let cards = archetypes().map_err(Failure::io)?;
    let line = |a: &cardscope_simulator::Archetype| Card {
        name: a.name.clone(),
        title: a.title.clone(),
        announced_bytes: a.announced_bytes,
        line: summary(a),
    };
    Ok(cards.iter().map(line).collect())
}

/// The list as text.
#[must_use]
pub fn list_text(cards: &[Card]) -> String {
    cards.iter().map(|c| format!("{}\n", c.line)).collect()
}

/// Explains a card, overrides applied.
///
/// # Errors
/// If there is none of that name, or an override does not fit it.
pub fn show(name: &str) -> Result<Shown, Failure> {
    let spec = spec(name)?;
    let document = json!({ "name": spec.archetype.name, "seed": spec.seed, "archetype": spec.archetype });
    Ok(Shown { text: describe(&spec.archetype), document })
}

/// A card by `NAME…` or `sim:NAME…`.
fn spec(name: &str) -> Result<TargetSpec, Failure> {
    let full = match name.starts_with(target_spec::PREFIX) {
        true => name.to_owned(),
        false => format!("{}{name}", target_spec::PREFIX),
    };
    target_spec::parse(&full).map_err(Failure::refused)
}

/// Serves a card as the file `card` in `directory`, in real time (or at once where `timing` is false), until
/// `stop` is raised. `say` is told the file once it can be used.
///
/// # Errors
/// If there is no such card, or the directory cannot be mounted on.
pub fn serve(
    name: &str,
    directory: &Path,
    timing: bool,
    stop: &Interrupt,
    say: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let spec = spec(name)?;
    let ready = |file: &Path| say(&format!("{} is {}", spec.text, file.display()));
    serve::serve(&spec, directory, serve::Options { timing }, stop, ready).map_err(|error| match error {
        ServeError::Directory { .. } => Failure::refused(error),
        _ => Failure::io(error),
    })
}
