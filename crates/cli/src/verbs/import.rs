//! `import`: logs of other tools into the archive.

use super::on_card::attended;
use crate::output::{self, Options};
use cardscope_model::card::CardFacts;
use cardscope_model::condition::Condition;
use cardscope_session::Failure;
use cardscope_session::import::{self, Request};
use clap::Args;
use std::path::PathBuf;

/// Read logs of other tools into the archive
///
/// cdm_fio, CrystalDiskMark, KDiskMark, AS SSD, fio, flashbench, f3, H2testw, iozone, hdparm, dd, PiBenchmarks, nvme-cli
/// and more (`--formats`), known by their content. Files in .zip and .gz are read, too. What was read before is known
/// again and not kept twice. Exit status 1 where a file that was named, or a log that is one, could not be read.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Import {
    /// Logs, folders of them, archives; - is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only show what was understood
    #[arg(long)]
    dry_run: bool,
    /// List the formats that are understood
    #[arg(long, exclusive = true)]
    formats: bool,
    /// Brand of the card, where the logs do not say it
    #[arg(long, value_name = "NAME")]
    brand: Option<String>,
    /// What the card is sold as, without its brand
    #[arg(long, value_name = "NAME")]
    card: Option<String>,
    /// Size on its label, e.g. 64GB
    #[arg(long, value_name = "SIZE")]
    capacity: Option<String>,
    /// A mark on its label, e.g. U3; may be given several times
    #[arg(long, value_name = "MARK")]
    mark: Vec<String>,
    /// What was true of card and rig, e.g. cooling=active; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    condition: Vec<String>,
    /// Archive to keep it in: a file, or postgres://… [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    archive: Option<PathBuf>,
}

impl Import {
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
        if self.formats {
            let formats = import::formats();
            return output::list(options, "formats", &serde_json::json!(formats), |_| {
                formats.iter().map(|f| format!("{:<20} {}\n", f.name, f.title)).collect()
            });
        }
        let detailed = self.dry_run;
        let request = self.request(options.json)?;
        let outcome =
            attended(options, None, |_, interrupt, progress| import::import(&request, interrupt, progress))?;
        output::outcome(options, &outcome, |report| cardscope_report::import::text(report, detailed))
    }

    fn request(self, detailed: bool) -> Result<Request, Failure> {
        let mut condition = Condition::default();
        for text in &self.condition {
            condition.state(text).map_err(Failure::refused)?;
        }
        let card = CardFacts {
            brand: self.brand,
            name: self.card,
            capacity_label: self.capacity,
            marks: self.mark,
            ..CardFacts::default()
        };
        Ok(Request {
            files: self.files,
            dry_run: self.dry_run,
            detailed,
            card,
            condition,
            archive: self.archive,
        })
    }
}
