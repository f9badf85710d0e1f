//! `sustain`: a long write or read with temperature.

use super::arguments::{duration, region, size};
use super::on_card::OnCard;
use crate::output::Options;
use crate::terminal::TypedTemperatures;
use cardscope_model::sustain::{Pattern, Work};
use cardscope_session::Failure;
use cardscope_session::sustain::{Region, Request};
use clap::{Args, ValueEnum};
use std::time::Duration;

/// Use a card for long and say what becomes of it: cache end, heat, stalls, somebody else on the bus, steady state
///
/// A device is only read unless --erase or --region says what may be lost; in a directory a file of the run's own is
/// used. Ends when the card is steady, or at --duration, --bytes or --max-temp.
#[derive(Debug, Args)]
pub(crate) struct Sustain {
    #[command(flatten)]
    card: OnCard,
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
    /// A thermometer of yours: PLACE=cmd:COMMAND, PLACE=csv:FILE, PLACE=csv:FILE#COLUMN or PLACE=ask (may be
    /// given again); a PLACE that begins with card counts as the card's
    #[arg(long, value_name = "PLACE=SOURCE")]
    thermometer: Vec<String>,
    /// End when the card is as hot as this, in °C
    #[arg(long, value_name = "CELSIUS")]
    max_temp: Option<f64>,
    /// Hold this run against an earlier one: its session, or a file made with --json
    #[arg(long, value_name = "SESSION|FILE")]
    against: Option<String>,
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

    fn request(&self) -> Request {
        Request {
            common: self.card.common(None, self.max_write),
            work: self.work(),
            pattern: match self.pattern {
                Order::Seq => Pattern::Sequential,
                Order::Rnd => Pattern::Random,
            },
            duration: self.duration,
            bytes: self.bytes,
            region: self.region,
            erase: self.erase,
            size: self.size,
            cooling: self.cooling.clone(),
            cooling_of: self.cooling_of.clone(),
            thermometers: self.thermometer.clone(),
            max_celsius: self.max_temp,
            baseline: self.against.clone(),
        }
    }

    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        let request = self.request();
        let mut typist = TypedTemperatures;
        let attended = request.attended(&mut typist)?;
        self.card.execute(&attended, options, cardscope_report::sustain::text)
    }
}
