//! Options of a real target that it cannot determine itself.

use super::hanging_call::IO_TIMEOUT;
use super::ownership::OwnershipCheck;
use crate::interrupt::InterruptFlag;
use cardscope_sd::nvme::SmartLog;
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// Environment variable for comparing I/O paths: `CARDSCOPE_IO=preads` uses plain pread and pwrite.
pub const IO_VARIABLE: &str = "CARDSCOPE_IO";

/// Reads the card's temperature in °C.
pub type TemperatureSource = Arc<dyn Fn() -> Option<f64> + Send + Sync>;

/// Times a command that the controller answers without its flash.
pub type PingSource = Arc<dyn Fn() -> Result<Duration, Errno> + Send + Sync>;

pub type HealthSource = Arc<dyn Fn() -> Option<SmartLog> + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoChoice {
    /// `io_uring` if the kernel allows it, else pread and pwrite.
    #[default]
    Auto,
    Preads,
}

impl IoChoice {
    /// Reads `CARDSCOPE_IO`; any value but `preads` means automatic.
    pub fn from_env() -> Self {
        match std::env::var_os(IO_VARIABLE) {
            Some(value) if value == "preads" => Self::Preads,
            _ => Self::Auto,
        }
    }
}

/// Settings of a real target. Defaults: automatic I/O, no temperature, an interrupt that is never raised.
#[derive(Clone, Default)]
pub struct RealOptions {
    pub io: IoChoice,
    /// File system of a file or directory, such as `ext4`, `exfat`, `tmpfs`.
    pub file_system: Option<String>,
    pub temperature: Option<TemperatureSource>,
    pub ping: Option<PingSource>,
    pub health: Option<HealthSource>,
    pub interrupt: InterruptFlag,
    /// Check of the open object; `None` skips the check.
    pub holding: Option<Arc<dyn OwnershipCheck>>,
    /// True if a plain file stands for a whole card: an image, or a simulated card served as a file.
    pub whole_card: bool,
    /// True if the device or file is open for reading only.
    pub read_only: bool,
    /// Time after which the card counts as silent; four minutes by default.
    pub io_timeout: Option<Duration>,
}

impl RealOptions {
    pub(super) fn io_timeout(&self) -> Duration {
        self.io_timeout.unwrap_or(IO_TIMEOUT)
    }
}

/// Block device opened by the caller, exclusively and for reading and writing.
#[derive(Debug)]
pub struct BlockDevice {
    /// Holds the claim until the target is dropped; I/O uses new descriptions of it.
    pub fd: OwnedFd,
    pub bytes: u64,
    /// Logical sector size in bytes.
    pub sector: u32,
    pub name: String,
}
