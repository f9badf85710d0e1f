//! `endure`: wear until failure.

use super::arguments::{duration, size};
use super::on_card::{Limits, OnCard};
use crate::output::Options;
use cardscope_session::Failure;
use cardscope_session::endure::Request;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Wear a card out in rounds of writing and reading, until half of it is bad
///
/// Everything on the card is lost, and so, in the end, is the card. Each round is kept when it is done; a run that was
/// interrupted goes on with --resume.
#[derive(Debug, Args)]
#[command(
    mut_arg("budget", |budget| budget.help("Begin no round that would end after this time, e.g. 90s, 3m, 1h")),
    mut_arg("max_write", |most| most.help("Begin no round that would write more than this in all, e.g. 100G")),
    mut_arg("seed", |seed| seed.conflicts_with("resume"))
)]
pub(crate) struct Endure {
    #[command(flatten)]
    card: OnCard,
    #[command(flatten)]
    limits: Limits,
    /// Wear only so much from the start of the card, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    span: Option<u64>,
    /// End after N rounds, those of earlier sittings counted
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// End when so large a share of the sectors is bad, e.g. 10% or 0.1
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "50%")]
    until: f64,
    /// Go on with the run that was interrupted on this card
    #[arg(long)]
    resume: bool,
    /// Wait so long for a card that went away
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    wait: Duration,
    /// Save an image of the card to FILE first, and put it back at the end
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    backup: Option<PathBuf>,
}

/// Reads `10%` or `0.1`.
fn share(text: &str) -> Result<f64, String> {
    let (number, factor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let share = number.trim().parse::<f64>().ok().map(|n| n * factor);
    share
        .filter(|s| *s > 0.0 && *s <= 1.0)
        .ok_or_else(|| format!("{text:?} is not a share; write 10% or 0.1"))
}

impl Endure {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = Request {
            common: self.card.common(self.limits.budget, self.limits.max_write),
            span: self.span,
            rounds: self.rounds,
            until: self.until,
            resume: self.resume,
            wait: self.wait,
            backup: self.backup,
        };
        self.card.execute(&request, options, cardscope_report::endure::text)
    }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_read_as_people_write_them() {
        assert_eq!((share("10%"), share("0.1"), share("100 %")), (Ok(0.1), Ok(0.1), Ok(1.0)));
        for bad in ["0", "-1%", "101%", "half", "nan"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
