//! What an endurance run is asked to do.

use crate::arguments::{duration, share, size};
use crate::frame::{Common, Limits};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Wear a card out, round by round, until half of it is bad
///
/// Everything on the card is lost, and so, in the end, is the card. Each round is kept when it is done; a run that was
/// interrupted goes on with --resume.
#[derive(Debug, Clone, Default, Args)]
#[command(
    mut_arg("budget", |budget| budget.help("Begin no round that would end after this time, e.g. 90s, 3m, 1h")),
    mut_arg("max_write", |most| most.help("Begin no round that would write more than this in all, e.g. 100G")),
    mut_arg("seed", |seed| seed.conflicts_with("resume"))
)]
pub struct Request {
    /// What every verb is asked for.
    #[command(flatten)]
    pub common: Common,
    /// What it may spend; `max_write` is over all sittings.
    #[command(flatten)]
    pub limits: Limits,
    /// Wear only so much from the start of the card, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub span: Option<u64>,
    /// End after N rounds, those of earlier sittings counted
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// End when so large a share of the sectors is bad, e.g. 10% or 0.1
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "50%")]
    pub until: f64,
    /// Go on with the run that was interrupted on this card
    #[arg(long)]
    pub resume: bool,
    /// Wait so long for a card that went away
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    pub wait: Duration,
    /// Save an image of the card to FILE first, and put it back at the end
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub backup: Option<PathBuf>,
}
