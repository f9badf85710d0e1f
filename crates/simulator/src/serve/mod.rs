//! A simulated card in real time: the tools of others (fio, f3probe, flashbench, mkfs) run on it through the kernel.
//! Each request is given to the model when it comes and answered when the model says; several may be in flight.

mod delay;
mod fuse;
mod live;
mod mount;

use crate::target_spec::TargetSpec;
use cardscope_engine::interrupt::Interrupt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The one file in the mounted directory.
pub const FILE: &str = "card";

/// How often the foreground looks whether it should stop.
const LOOK: Duration = Duration::from_millis(20);

/// How a card is served.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// False to answer each request at once: the card keeps its data but not its times.
    pub timing: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { timing: true }
    }
}

/// Why a card cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The directory is no place to mount on.
    #[error("cannot serve on {path}: {reason}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The kernel did not take the mount.
    #[error(
        "mounting on {path} failed: {source}; is /dev/fuse there and may you use it (or is fusermount3 installed)?"
    )]
    Mount {
        /// The directory.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The file system broke while it was served.
    #[error("serving {path} ended: {source}")]
    Session {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Signals cannot be caught.
    #[error("signals cannot be caught: {0}")]
    Signals(io::Error),
}

/// A card that is being served; dropped, it is unmounted.
#[derive(Debug)]
pub struct Served {
    session: Option<fuser::BackgroundSession>,
    directory: PathBuf,
}

impl Served {
    /// Mounts a card on a directory. A dead mount that a killed server left there is cleared first.
    ///
    /// # Errors
    /// If the directory cannot be mounted on.
    pub fn start(spec: &TargetSpec, directory: &Path, options: Options) -> Result<Served, ServeError> {
        mount::prepare(directory)?;
        let session = fuse::mount(spec, directory, options)
            .map_err(|source| ServeError::Mount { path: directory.to_owned(), source })?;
        Ok(Served { session: Some(session), directory: directory.to_owned() })
    }

    /// The file that is the card.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// True once somebody else has unmounted it.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.session.as_ref().is_none_or(|s| s.guard.is_finished())
    }

    /// Unmounts it.
    ///
    /// # Errors
    /// If the file system broke while it was served.
    pub fn stop(mut self) -> Result<(), ServeError> {
        self.unmount()
    }

    fn unmount(&mut self) -> Result<(), ServeError> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let ended = session.guard.is_finished();
        match session.umount_and_join() {
            // A file that is still open keeps the kernel from unmounting: it is detached, and ends with us.
            Err(_) if !ended && mount::detach(&self.directory) => Ok(()),
            Err(source) => Err(ServeError::Session { path: self.directory.clone(), source }),
            Ok(()) => Ok(()),
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error here has nobody to go to; `stop` tells it.
        let _ = self.unmount();
    }
}

/// Serves a card on a directory until `stop` is raised or somebody unmounts it. `ready` is told the file once it
/// can be used.
///
/// # Errors
/// If it cannot be mounted, or breaks while it is served.
pub fn serve(
    spec: &TargetSpec,
    directory: &Path,
    options: Options,
    stop: &Interrupt,
    ready: impl FnOnce(&Path),
) -> Result<(), ServeError> {
    let served = Served::start(spec, directory, options)?;
    ready(&served.file());
    while !stop.raised() && !served.ended() {
        std::thread::sleep(LOOK);
    }
    served.stop()
}

/// An interrupt that SIGTERM, SIGINT and SIGHUP raise.
///
/// # Errors
/// If the signals cannot be caught.
pub fn stop_on_signals() -> Result<Interrupt, ServeError> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let interrupt = Interrupt::default();
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, interrupt.flag()).map_err(ServeError::Signals)?;
    }
    Ok(interrupt)
}
