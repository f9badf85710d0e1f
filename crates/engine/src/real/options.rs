//! What a caller says about a real target that the target cannot find out itself.

use super::holding::OwnershipCheck;
use super::patience::IO_TIMEOUT;
use crate::interrupt::InterruptFlag;
use cardscope_sd::nvme::SmartLog;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The environment variable that asks for plain preads: `CARDSCOPE_IO=preads`, to compare the two paths.
pub const IO_VARIABLE: &str = "CARDSCOPE_IO";

/// Where a card's temperature can be had, in °C.
pub type TemperatureSource = Arc<dyn Fn() -> Option<f64> + Send + Sync>;

/// How long a command takes that the card's controller answers without its flash; the errno where it fails.
pub type PingSource = Arc<dyn Fn() -> Result<Duration, Errno> + Send + Sync>;

/// Where the card's SMART log can be had.
pub type HealthSource = Arc<dyn Fn() -> Option<SmartLog> + Send + Sync>;

/// Which path the I/O takes into the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoChoice {
    /// `io_uring` where the kernel allows it, else plain preads.
    #[default]
    Auto,
    /// Plain preads and pwrites.
    Preads,
}

impl IoChoice {
    /// As `CARDSCOPE_IO` says: `preads`, or anything else for automatic.
    pub fn from_env() -> Self {
        match std::env::var_os(IO_VARIABLE) {
            Some(value) if value == "preads" => Self::Preads,
            _ => Self::Auto,
        }
    }
}

/// Settings of a real target. The default is automatic I/O, nothing known of the file system, no temperature, and
/// an interrupt that nobody raises.
#[derive(Clone, Default)]
pub struct RealOptions {
    /// Which path the I/O takes.
    pub io: IoChoice,
    /// Name of the file system below a file or directory: `ext4`, `exfat`, `tmpfs` …
    pub file_system: Option<String>,
    /// The card's temperature.
    pub temperature: Option<TemperatureSource>,
    /// A command that needs no flash, where the device has one.
    pub ping: Option<PingSource>,
    /// The card's SMART log, where it has one.
    pub health: Option<HealthSource>,
    /// Raised when the user asks to stop.
    pub interrupt: InterruptFlag,
    /// Knows the object that is open again, and whether it may still be written to; without it nobody is asked.
    pub holding: Option<Arc<dyn OwnershipCheck>>,
    /// True where a plain file stands for a whole card: a simulated one served as a file, or an image.
    pub whole_card: bool,
    /// True where nothing is going to be written: the device or file is open for reading only.
    pub read_only: bool,
    /// How long an answer is waited for before the card counts as silent; four minutes where nothing is said.
    pub io_timeout: Option<Duration>,
}

impl RealOptions {
    pub(super) fn io_timeout(&self) -> Duration {
        self.io_timeout.unwrap_or(IO_TIMEOUT)
    }
}

/// A block device that somebody else has opened, exclusively and for reading and writing.
#[derive(Debug)]
pub struct BlockDevice {
    /// The open device; the claim on it holds until the target is dropped. It is opened anew beside that for the I/O.
    pub fd: OwnedFd,
    /// Bytes it announces.
    pub bytes: u64,
    /// Its logical sector in bytes.
    pub sector: u32,
    /// As the user named it.
    pub name: String,
}
