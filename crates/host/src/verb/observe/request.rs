//! Options of `observe`.

use cardscope_session::arguments::parse_duration;
use cardscope_session::error::{Failure, Result};
use cardscope_session::options::{ArchiveAt, MachineOptions};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Duration of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchLength {
    /// No watch, only the counters since boot.
    NoWatch,
    For(Duration),
    /// Until interrupted, which is the regular end.
    UntilStopped,
}

/// Shortest interval. Below it the cost of reading the counters dominates.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// Watch a card in use: is it what the system waits for?
///
/// Reads only the kernel's counters. Without --for it watches until Ctrl-C; with --from-boot alone it shows
/// what happened since boot and ends.
#[derive(Debug, Clone, Args)]
#[command(mut_arg("sysfs", |copy| copy.requires("from_boot").help(
    "Read this copy of a machine's /sys and /proc instead of the live ones; only with --from-boot"
)))]
pub struct ObserveRequest {
    /// Device or partition, as `list --all` shows it
    #[arg(value_name = "DEVICE")]
    pub target: String,
    /// Watch this long, e.g. 90s, 5m
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub length: Option<Duration>,
    /// Interval between readings
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub every: Duration,
    /// Show what happened since boot, from the kernel's counters
    #[arg(long)]
    pub from_boot: bool,
    /// Also save the document to FILE
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Compare with an earlier watch: a file from --save, or a session of the archive
    #[arg(long = "against", value_name = "FILE|SESSION")]
    pub baseline: Option<String>,
    #[command(flatten)]
    pub archive: ArchiveAt,
    #[command(flatten)]
    pub machine: MachineOptions,
}

impl ObserveRequest {
    pub(super) fn length(&self) -> WatchLength {
        match (self.length, self.from_boot) {
            (Some(length), _) => WatchLength::For(length),
            (None, true) => WatchLength::NoWatch,
            (None, false) => WatchLength::UntilStopped,
        }
    }

    /// Refuses contradictory options.
    pub(super) fn check(&self) -> Result<()> {
        Failure::refuse_first(&[
            (self.every < SHORTEST_INTERVAL, "--every must be at least 0.1s"),
            (
                self.length() == WatchLength::NoWatch && self.baseline.is_some(),
                "--against needs --for, e.g. --for 5m",
            ),
        ])
    }
}
