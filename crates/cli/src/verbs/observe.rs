//! `observe`: is it the card that a system in use waits for?

use super::arguments::duration;
use super::on_card::attended;
use crate::output::{self, Options};
use cardscope_session::Failure;
use cardscope_session::observe::{self, Length, Request};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Less than this tells nothing but the cost of looking.
const LEAST: Duration = Duration::from_millis(100);

/// Watch a card in use, without I/O of its own: is it what the system waits for?
///
/// Looks at the kernel's counters only. Without --for it watches until Ctrl-C; with --from-boot alone it tells what
/// happened since boot and ends.
#[derive(Debug, Args)]
pub(crate) struct Observe {
    /// The device or partition, as `list --all` shows it
    device: String,
    /// Watch this long, e.g. 90s, 5m
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    length: Option<Duration>,
    /// From one look to the next
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    every: Duration,
    /// What happened since boot, by the kernel's counters
    #[arg(long)]
    from_boot: bool,
    /// Save the document to FILE, too
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with an earlier watch: a file of --save, or a session of the archive
    #[arg(long, value_name = "FILE|SESSION")]
    against: Option<String>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Read this copy of a machine's /sys and /proc instead of this machine; only with --from-boot
    #[arg(long, value_name = "DIR", requires = "from_boot")]
    sysfs: Option<PathBuf>,
}

impl Observe {
    fn length(&self) -> Length {
        match (self.length, self.from_boot) {
            (Some(length), _) => Length::For(length),
            (None, true) => Length::Nothing,
            (None, false) => Length::UntilStopped,
        }
    }

    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        if self.every < LEAST {
            return Err(Failure::refused(
                "--every is 0.1s at least: looking more often would disturb what is watched",
            ));
        }
        let length = self.length();
        if length == Length::Nothing && self.against.is_some() {
            return Err(Failure::refused("--against compares watches; add --for, e.g. --for 5m"));
        }
        let request = Request {
            target: self.device,
            every: self.every,
            length,
            from_boot: self.from_boot,
            save: self.save,
            baseline: self.against,
            archive: self.archive,
            sysfs: self.sysfs,
        };
        let outcome = attended(options, None, |_, interrupt, progress| {
            observe::observe(&request, interrupt, progress)
        })?;
        output::outcome(options, &outcome, cardscope_report::observe::text)
    }
}
