//! The verbs that only look: `list`, `info` and `decode`.

use crate::output::{self, Options};
use cardscope_model::units::Capacity;
use cardscope_report::table::Table;
use cardscope_session::Result;
use cardscope_session::identify::{self, Entry, HexRegisters};
use cardscope_session::options::Machine;
use clap::Args;

/// Show cards and readers, and whether they are safe to test
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Disks that cannot be taken out, and loop devices, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    machine: Machine,
}

impl List {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        let devices = identify::list(&self.machine, self.all)?;
        output::list(options, "devices", &devices, |devices| text(devices, self.all))
    }
}

/// Decode what a card says of itself, its bus and its limits
#[derive(Debug, Args)]
pub(crate) struct Info {
    /// Device as `list` shows it, or sim:NAME
    target: String,
    #[command(flatten)]
    machine: Machine,
}

impl Info {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        let identity = identify::info(&self.target, &self.machine)?;
        output::document(options, &identity, cardscope_report::identity::text)
    }
}

/// Decode pasted registers
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Decode {
    /// Card identification, 32 hex digits
    #[arg(long, value_name = "HEX")]
    cid: Option<String>,
    /// Card-specific data, 32 hex digits
    #[arg(long, value_name = "HEX")]
    csd: Option<String>,
    /// SD configuration register, 16 hex digits
    #[arg(long, value_name = "HEX")]
    scr: Option<String>,
    /// SD status, 128 hex digits
    #[arg(long, value_name = "HEX")]
    ssr: Option<String>,
    /// Operating conditions, 8 hex digits
    #[arg(long, value_name = "HEX")]
    ocr: Option<String>,
}

impl Decode {
    pub(crate) fn run(self, options: &Options) -> Result<u8> {
        let hex = HexRegisters {
            cid: self.cid.as_deref(),
            csd: self.csd.as_deref(),
            scr: self.scr.as_deref(),
            ssr: self.ssr.as_deref(),
            ocr: self.ocr.as_deref(),
            kind: None,
        };
        let identity = identify::decode(&hex)?;
        output::document(options, &identity, cardscope_report::identity::text)
    }
}

fn text(devices: &[Entry], all: bool) -> String {
    if devices.is_empty() {
        let more = if all { "" } else { " (--all shows fixed disks and loop devices too)" };
        return format!("No card, stick or reader is here{more}. Simulated cards: cardscope sim list");
    }
    let mut table = Table::new(["device", "size", "bus", "model", "holds", "safe to test"]);
    for d in devices {
        table.row([
            d.path.clone(),
            size(d),
            d.bus.to_string(),
            d.model.clone().unwrap_or_default(),
            holds(d),
            if d.safe {
                "yes".to_owned()
            } else {
                format!("no: {}", d.reason.as_deref().unwrap_or("unknown"))
            },
        ]);
    }
    table.to_string()
}

fn size(d: &Entry) -> String {
    match d.bytes {
        _ if d.empty => "empty slot".to_owned(),
        Some(bytes) => Capacity(bytes).to_string(),
        None => "unknown".to_owned(),
    }
}

/// File systems and where they are mounted, in a few words.
fn holds(d: &Entry) -> String {
    let of = |name: &str, system: &Option<String>, mounted: &[String]| {
        let system = system.as_deref().unwrap_or("unknown");
        let at = if mounted.is_empty() { String::new() } else { format!(" at {}", mounted.join(", ")) };
        format!("{name}: {system}{at}")
    };
    let mut parts: Vec<String> =
        d.partitions.iter().map(|p| of(&p.name, &p.filesystem, &p.mounted_at)).collect();
    if d.filesystem.is_some() || !d.mounted_at.is_empty() {
        parts.push(of(&d.name, &d.filesystem, &d.mounted_at));
    }
    parts.join("; ")
}
