//! Options of `endure`.

use cardscope_session::arguments::{parse_duration, parse_share, parse_size_argument};
use cardscope_session::frame::{CommonOptions, SpendLimits};
use cardscope_session::option_json;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Wear a card out, round by round, until half of it is bad
///
/// Destroys all data on the card and, in the end, the card itself. Each finished round is stored; continue an
/// interrupted run with --resume.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(
    mut_arg("budget", |budget| budget.help("Start no round that would end after this time, e.g. 90s, 3m, \
             1h")),
    mut_arg("max_write", |most| most.help("Start no round that would write more than this in total, e.g. \
             100G")),
    mut_arg("seed", |seed| seed.conflicts_with("resume"))
)]
pub struct EndureRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    /// Limits; `max_write` is over all runs.
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: SpendLimits,
    /// Wear out only this much from the start of the card, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub span: Option<u64>,
    /// Stop after N rounds, earlier runs included
    #[arg(long, value_name = "N")]
    pub rounds: Option<u32>,
    /// Stop when this share of the sectors is bad, e.g. 10% or 0.1
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value = "50%")]
    #[serde(with = "option_json")]
    pub until: f64,
    /// Continue the interrupted run on this card
    #[arg(long)]
    pub resume: bool,
    /// Wait this long for a card that went away
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "10m")]
    #[serde(with = "option_json")]
    pub wait: Duration,
    /// Save an image of the card to FILE first, and restore it at the end
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    #[serde(skip)]
    pub backup: Option<PathBuf>,
}
