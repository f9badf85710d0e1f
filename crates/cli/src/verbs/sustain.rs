//! `sustain`: a long write or read with temperature.

use super::arguments::{duration, region, size};
use crate::output::{self, Options};
use crate::progress::Progress;
use crate::signals;
use crate::terminal::{AtTerminal, TypedTemperatures};
use cardscope_model::sustain::{Pattern, Work};
use cardscope_workbench::Failure;
use cardscope_workbench::sustain::{self, Outcome, Region, Request};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Use a card for long and say what becomes of it: cache end, heat, stalls, somebody else on the bus, steady state
///
/// A device is only read unless --erase or --region says what may be lost; in a directory a file of the run's own is
/// used. Ends when the card is steady, or at --duration, --bytes or --max-temp.
#[derive(Debug, Args)]
pub(crate) struct Sustain {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    target: String,
    /// Only read
    #[arg(long, conflicts_with_all = ["write", "mixed"])]
    read: bool,
    /// Write until the card is steady, pause, write again, read (where something may be lost: with --erase or --region)
    #[arg(long, conflicts_with = "mixed")]
    write: bool,
    /// Write and read in turn
    #[arg(long)]
    mixed: bool,
    /// 1 MiB in order, or 4 KiB anywhere
    #[arg(long, value_name = "PATTERN", default_value = "seq")]
    pattern: Order,
    /// How long it may take, e.g. 90s, 10m, 2h; heat needs 5 to 70 minutes to show
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    duration: Duration,
    /// The workload moves no more than this, e.g. 64G; nothing but small reads comes on top
    #[arg(long, value_name = "SIZE", value_parser = size)]
    bytes: Option<u64>,
    /// Write no more than this in all, e.g. 16G [default: 256M in a directory on the disk that holds the running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_write: Option<u64>,
    /// What stands in this region may go, and nothing outside of it is touched, e.g. 1G+32G
    #[arg(long, value_name = "START+LEN", value_parser = region)]
    region: Option<Region>,
    /// What is on the card may go
    #[arg(long)]
    erase: bool,
    /// Size of the file in a directory, e.g. 8G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// How it is cooled, for comparisons: active, passive …
    #[arg(long, value_name = "WORD")]
    cooling: Option<String>,
    /// What is cooled: card, reader, host-controller, soc
    #[arg(long, value_name = "PLACE")]
    cooling_of: Option<String>,
    /// A thermometer of yours: PLACE=command:COMMAND, PLACE=csv:FILE, PLACE=csv:FILE#COLUMN or PLACE=ask (may be
    /// given again); a PLACE that begins with card counts as the card's
    #[arg(long, value_name = "PLACE=SOURCE")]
    thermometer: Vec<String>,
    /// End when the card is as hot as this, in °C
    #[arg(long, value_name = "CELSIUS")]
    max_temp: Option<f64>,
    /// Hold this run against an earlier one: its session, or a file made with --json
    #[arg(long, value_name = "SESSION|FILE")]
    against: Option<String>,
    /// What is true of card and rig, e.g. reader=internal (may be given again)
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Seed of places and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET, for --region and --erase; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    yes_destroy: Option<String>,
}

/// Where the workload goes.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Order {
    /// 1 MiB in order
    Seq,
    /// 4 KiB anywhere
    Rnd,
}

impl Sustain {
    fn work(&self) -> Option<Work> {
        match (self.read, self.write, self.mixed) {
            (true, ..) => Some(Work::Read),
            (_, true, _) => Some(Work::Write),
            (_, _, true) => Some(Work::Mixed),
            _ => None,
        }
    }

    fn request(self) -> Request {
        Request {
            work: self.work(),
            pattern: match self.pattern {
                Order::Seq => Pattern::Sequential,
                Order::Rnd => Pattern::Random,
            },
            target: self.target,
            duration: self.duration,
            bytes: self.bytes,
            max_write: self.max_write,
            region: self.region,
            erase: self.erase,
            size: self.size,
            cooling: self.cooling,
            cooling_of: self.cooling_of,
            thermometers: self.thermometer,
            max_celsius: self.max_temp,
            against: self.against,
            conditions: self.condition,
            seed: self.seed,
            archive: self.archive,
        }
    }

    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let interrupt = signals::interrupt();
        let mut progress = Progress::new(options.quiet);
        let mut consent = AtTerminal { given: self.yes_destroy.clone(), interrupt: interrupt.clone() };
        let mut typist = TypedTemperatures;
        let request = self.request();
        let outcome = sustain::sustain(&request, &mut consent, &interrupt, &mut progress, &mut typist);
        // A question that Ctrl-C left without an answer is no refusal.
        let ended = |failure| if interrupt.raised() { Failure::Interrupted } else { failure };
        let Outcome { report, failure } = outcome.map_err(ended)?;
        drop(progress);
        output::document(options, &report, cardscope_report::sustain::text)?;
        Ok(match failure {
            Some(failure) => {
                output::say(&failure);
                failure.exit_status()
            }
            None => u8::from(report.is_bad()),
        })
    }
}
