//! Options of `serve`.

use cardscope_session::arguments::parse_duration;
use cardscope_session::options::ArchiveAt;
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Serve the archive and the test bench to a browser
///
/// Listens on this computer only, at http://127.0.0.1:7373/, and prints the address with the token that a browser needs, a new one
/// for each start. Tests that are started there run in processes of their own; Ctrl-C stops them, has the cards' data restored,
/// and ends.
#[derive(Debug, Clone, Args)]
pub struct ServeRequest {
    /// Port to listen on; 0 takes any that is free
    #[arg(long, default_value_t = 7373)]
    pub port: u16,
    /// Listen on another address of this computer, e.g. 192.168.1.9 or 0.0.0.0: the token, results and names of cards then
    /// cross the network unencrypted
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", hide_default_value = true)]
    pub listen: IpAddr,
    /// Also answer to this name of the computer, e.g. pi.local, with a port if a proxy has another one (repeatable)
    #[arg(long = "allow-host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Open the address in this desktop's browser
    #[arg(long)]
    pub open: bool,
    /// Take the token from this file of yours (mode 0600), made if missing, e.g. where the server starts at boot
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// End by itself once no browser has been open and no test has run for so long, e.g. 1h
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub until_idle: Option<Duration>,
    /// Offer fixed disks and loop devices, too
    #[arg(long)]
    pub all: bool,
    /// The archive that is shown and filled.
    #[command(flatten)]
    pub archive: ArchiveAt,
}
