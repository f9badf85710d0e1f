//! Server for several cards, each in its mount directory, by name over NBD, or both; unmounted and closed whatever ends
//! it.

use super::cpu_latency::CpuLatencyGuard;
use super::nbd::{NbdAddress, NbdListener};
use super::report::ServeReport;
use super::served_card::ServedCard;
use super::{CARD_FILE, ServeError, ServingOptions, fuse, mount};
use crate::state_file::StateError;
use crate::target_spec::TargetSpec;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending::{PendingGuard, register_cleanup};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Interval at which the foreground checks for its end.
const END_CHECK: Duration = Duration::from_millis(20);

/// Time that the kernel may take to unmount.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(2);

/// Cards to serve, and places to serve them at.
#[derive(Debug, Clone)]
pub struct ServeJob {
    /// Cards; the first is the default of NBD.
    pub cards: Vec<TargetSpec>,
    /// Directory of a single card, or of the directories of several.
    pub mount: Option<PathBuf>,
    /// Address for NBD clients.
    pub nbd: Option<NbdAddress>,
    pub options: ServingOptions,
}

/// Served cards; they are unmounted when the server is dropped.
pub struct CardServer {
    cards: Vec<Arc<ServedCard>>,
    mounts: Vec<CardMount>,
    nbd: Option<NbdListener>,
    /// Dropped last, so that cards are unmounted in order even if the process is asked to end.
    _cleanup: PendingGuard,
}

struct CardMount {
    session: Option<fuser::BackgroundSession>,
    directory: PathBuf,
    /// Number of the mount in the kernel.
    id: Option<String>,
    /// True if the server created the directory, and therefore removes it.
    made_directory: bool,
}

impl CardServer {
    /// Mounts the cards and listens, after clearing mounts of killed servers. Fails if a directory or the address
    /// cannot be used; nothing is served then.
    pub fn start(job: &ServeJob) -> Result<CardServer, ServeError> {
        if job.cards.is_empty() || (job.mount.is_none() && job.nbd.is_none()) {
            return Err(ServeError::Nothing);
        }
        refuse_shared_save_file(&job.cards)?;
        let awake = Arc::new(CpuLatencyGuard::new(&job.options));
        let insert = |(spec, name)| ServedCard::new(spec, name, &job.options, &awake).map(Arc::new);
        let named = job.cards.iter().zip(unique_names(&job.cards));
        let cards = named.map(insert).collect::<Result<Vec<_>, _>>()?;
        let risk = "a mount remains until the next `cardscope sim serve` there";
        let cleanup = register_cleanup("the cards are unmounted and their states saved", risk);
        let mut server = CardServer { cards, mounts: Vec::new(), nbd: None, _cleanup: cleanup };
        if let Some(address) = &job.nbd {
            server.nbd = Some(NbdListener::start(address, &server.cards)?);
        }
        if let Some(directory) = &job.mount {
            server.mount_cards(directory)?;
        }
        Ok(server)
    }

    fn mount_cards(&mut self, directory: &Path) -> Result<(), ServeError> {
        if let [card] = self.cards.as_slice() {
            self.mounts.push(CardMount::new(card, directory, false)?);
            return Ok(());
        }
        mount::prepare_parent(directory)?;
        for card in &self.cards {
            let own = directory.join(&card.name);
            let made = mount::make_directory(&own)?;
            self.mounts.push(CardMount::new(card, &own, made)?);
        }
        Ok(())
    }

    /// Paths of the cards' files, in the order given; empty without mounts.
    pub fn card_files(&self) -> Vec<PathBuf> {
        self.mounts.iter().map(|m| m.directory.join(CARD_FILE)).collect()
    }

    /// NBD URIs of the cards, in the order given; empty without NBD.
    pub fn nbd_uris(&self) -> Vec<String> {
        let Some(nbd) = &self.nbd else { return Vec::new() };
        self.cards.iter().map(|card| nbd.uri(&card.name)).collect()
    }

    /// Lines for the user: place of each card, and warnings.
    pub fn place_lines(&self) -> Vec<String> {
        let names = || self.cards.iter().map(|card| &card.spec_text);
        let files = names().zip(self.card_files()).map(|(name, at)| format!("{name} is {}", at.display()));
        let uris = names().zip(self.nbd_uris()).map(|(name, uri)| format!("{name} is {uri}"));
        let warning = self.nbd.as_ref().and_then(NbdListener::warning);
        files.chain(uris).chain(warning).collect()
    }

    /// True after all cards were unmounted by others, or a thread of the server panicked.
    pub fn has_ended(&self) -> bool {
        let unmounted = !self.mounts.is_empty() && self.mounts.iter().all(CardMount::session_ended);
        self.cards.iter().any(|card| card.meter.is_broken()) || (unmounted && self.nbd.is_none())
    }

    pub fn reports(&self) -> Vec<ServeReport> {
        self.cards.iter().map(|card| card.report()).collect()
    }

    /// Unmounts and closes all cards; returns their counters. Fails if a card broke while it was served, after
    /// unmounting the others.
    pub fn stop(mut self) -> Result<Vec<ServeReport>, ServeError> {
        drop(self.nbd.take());
        let ends: Vec<_> = self.mounts.iter_mut().map(CardMount::unmount).collect();
        let broken = self.cards.iter().find(|card| card.meter.is_broken()).map(|card| {
            let panicked = io::Error::other("a thread panicked; please report it");
            ServeError::Session(card.spec_text.clone(), panicked)
        });
        let saved: Vec<_> = self.cards.iter().map(|card| card.live.close(!card.meter.is_broken())).collect();
        let unsaved = saved.into_iter().find_map(Result::err).map(ServeError::from);
        let error = ends.into_iter().find_map(Result::err).or(broken).or(unsaved);
        error.map_or_else(|| Ok(self.reports()), Err)
    }
}

impl CardMount {
    fn new(card: &Arc<ServedCard>, given: &Path, made_directory: bool) -> Result<CardMount, ServeError> {
        let mut mount = CardMount { session: None, directory: given.to_owned(), id: None, made_directory };
        mount::prepare_directory(given)?;
        // The kernel's table has absolute paths only.
        mount.directory = given.canonicalize().unwrap_or_else(|_| given.to_owned());
        let mounted = fuse::mount_card(card, &mount.directory);
        mount.session = Some(mounted.map_err(|e| mount::mount_error(given, &e))?);
        mount.id = mount::mount_id(&mount.directory);
        Ok(mount)
    }

    fn session_ended(&self) -> bool {
        self.session.as_ref().is_none_or(|s| s.guard.is_finished())
    }

    fn unmount(&mut self) -> Result<(), ServeError> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let ended = session.guard.is_finished();
        let result = match (ended, mount::mount_id(&self.directory)) {
            // Either this server's threads broke, or the mount was removed by others and something else is mounted
            // there by now, which ending the session would unmount.
            (true, Some(found)) => {
                std::mem::forget(session);
                if self.id.as_ref() == Some(&found) {
                    mount::unmount_lazily(&self.directory);
                }
                Ok(())
            }
            (true, None) => session.join(),
            (false, _) => run_within(UNMOUNT_TIMEOUT, move || session.umount_and_join()),
        };
        let gone = || mount::mount_id(&self.directory).is_none() || mount::unmount_lazily(&self.directory);
        match result {
            // A file that is still open prevents the kernel from unmounting: the mount is detached, and ends with the
            // process.
            Err(_) if !ended && gone() => Ok(()),
            Err(error) => Err(ServeError::Session(self.directory.display().to_string(), error)),
            Ok(()) => Ok(()),
        }
    }
}

impl Drop for CardMount {
    fn drop(&mut self) {
        // `drop` cannot report an error; `stop` does.
        let _ = self.unmount();
        if self.made_directory {
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

/// Result of an action that ends in time; otherwise it continues in the background. A mount that an ordinary user
/// detached ends with the last open file on it.
fn run_within(time: Duration, act: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(act()));
    receiver.recv_timeout(time).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Refuses cards that are saved to the same file, where one would replace the other.
fn refuse_shared_save_file(cards: &[TargetSpec]) -> Result<(), ServeError> {
    let mut places = std::collections::BTreeSet::new();
    for path in cards.iter().filter_map(|card| card.storage.save.as_ref()) {
        if !places.insert(std::path::absolute(path).unwrap_or_else(|_| path.clone())) {
            let reason = "two cards are to be saved there; give each its own file";
            return Err(StateError::Unwritable(path.display().to_string(), reason.to_owned()).into());
        }
    }
    Ok(())
}

/// Names of the cards; a second card of a name gets `-2`.
fn unique_names(cards: &[TargetSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for card in cards {
        let own = card.archetype.name.clone();
        let numbered = (2..).map(|n: u32| format!("{own}-{n}"));
        let name = std::iter::once(own.clone()).chain(numbered).find(|name| !names.contains(name));
        names.push(name.unwrap_or(own));
    }
    names
}

/// Serves cards until `stop` is raised or others unmount them; calls `ready` when they can be used. Returns their
/// counters. Fails if they cannot be mounted, or break while they are served.
pub fn serve_cards(
    job: &ServeJob,
    stop: &InterruptFlag,
    ready: impl FnOnce(&CardServer),
) -> Result<Vec<ServeReport>, ServeError> {
    let server = CardServer::start(job)?;
    ready(&server);
    while !stop.is_raised() && !server.has_ended() {
        std::thread::sleep(END_CHECK);
    }
    server.stop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_action_times_out() {
        let hang = || {
            std::thread::sleep(Duration::from_secs(30));
            Ok(())
        };
        assert_eq!(
            run_within(Duration::from_millis(20), hang).unwrap_err().kind(),
            std::io::ErrorKind::TimedOut
        );
        assert!(run_within(Duration::from_secs(20), || Ok(())).is_ok());
    }
}
