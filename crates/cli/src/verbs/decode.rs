//! `decode`: the same as `info`, from pasted hex.

use crate::output::{self, Options};
use cardscope_session::Failure;
use cardscope_session::identify::{self, HexRegisters};
use clap::Args;

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
    pub(crate) fn run(self, options: &Options) -> Result<u8, Failure> {
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
