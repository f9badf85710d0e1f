//! Several cards served at once, each on a directory of its own, by name over NBD, or both; unmounted and closed
//! however it ends.

use super::awake::CpuLatencyGuard;
use super::nbd::{NbdAddress, NbdListener};
use super::options::ServingOptions;
use super::report::ServeReport;
use super::slot::ServedCard;
use super::{FILE, ServeError, fuse, mount};
use crate::state_file::StateError;
use crate::target_spec::TargetSpec;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending::{CleanupGuard, owing};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often the foreground looks whether it should stop.
const LOOK: Duration = Duration::from_millis(20);

/// How long the kernel may take to unmount.
const UNMOUNTING: Duration = Duration::from_secs(2);

/// What to serve, and where.
#[derive(Debug, Clone)]
pub struct ServeJob {
    /// The cards; the first is NBD's default.
    pub cards: Vec<TargetSpec>,
    /// The directory of one card, or of a directory for each of several.
    pub mount: Option<PathBuf>,
    /// Where NBD clients connect.
    pub nbd: Option<NbdAddress>,
    /// With their times or at once, and how.
    pub options: ServingOptions,
}

/// Cards that are being served; dropped, they are unmounted.
pub struct CardServer {
    cards: Vec<Arc<ServedCard>>,
    mounts: Vec<CardMount>,
    nbd: Option<NbdListener>,
    /// Last: what is served ends in order, whoever asks the process to end.
    _owing: CleanupGuard,
}

struct CardMount {
    session: Option<fuser::BackgroundSession>,
    directory: PathBuf,
    /// The kernel's number of it.
    id: Option<String>,
    /// We made the directory, so we remove it.
    made: bool,
}

impl CardServer {
    /// Mounts the cards and listens. Dead mounts that a killed server left there are cleared first.
    ///
    /// # Errors
    /// If a directory cannot be mounted on, or the address not be listened on; nothing is served then.
    pub fn start(job: &ServeJob) -> Result<CardServer, ServeError> {
        if job.cards.is_empty() || (job.mount.is_none() && job.nbd.is_none()) {
            return Err(ServeError::Nothing);
        }
        saved_apart(&job.cards)?;
        let awake = Arc::new(CpuLatencyGuard::new(&job.options));
        let slot = |(spec, name)| Ok(Arc::new(ServedCard::new(spec, name, &job.options, &awake)?));
        let cards: Vec<_> =
            job.cards.iter().zip(names(&job.cards)).map(slot).collect::<Result<_, ServeError>>()?;
        let left = "a mount remains until the next `cardscope sim serve` there";
        let owing = owing("the cards are unmounted and their states saved", left);
        let mut server = CardServer { cards, mounts: Vec::new(), nbd: None, _owing: owing };
        if let Some(address) = &job.nbd {
            server.nbd = Some(NbdListener::start(address, &server.cards)?);
        }
        if let Some(directory) = &job.mount {
            server.mount(directory)?;
        }
        Ok(server)
    }

    fn mount(&mut self, directory: &Path) -> Result<(), ServeError> {
        if let [card] = self.cards.as_slice() {
            self.mounts.push(CardMount::new(card, directory, false)?);
            return Ok(());
        }
        mount::prepare_parent(directory)?;
        for card in &self.cards {
            let own = directory.join(&card.name);
            let made = mount::make(&own)?;
            self.mounts.push(CardMount::new(card, &own, made)?);
        }
        Ok(())
    }

    /// The files that are the cards, in the order given; empty where nothing is mounted.
    pub fn files(&self) -> Vec<PathBuf> {
        self.mounts.iter().map(|m| m.directory.join(FILE)).collect()
    }

    /// The NBD addresses (URIs) of the cards, in the order given; empty where nothing listens.
    pub fn uris(&self) -> Vec<String> {
        let Some(nbd) = &self.nbd else { return Vec::new() };
        self.cards.iter().map(|card| nbd.uri(&card.name)).collect()
    }

    /// Lines for people: where each card is, and what to be careful about.
    pub fn places(&self) -> Vec<String> {
        let names = || self.cards.iter().map(|card| &card.text);
        let files = names().zip(self.files()).map(|(name, file)| format!("{name} is {}", file.display()));
        let uris = names().zip(self.uris()).map(|(name, uri)| format!("{name} is {uri}"));
        let warning = self.nbd.as_ref().and_then(NbdListener::warning);
        files.chain(uris).chain(warning).collect()
    }

    /// True once somebody else has unmounted everything, or a thread of ours panicked.
    pub fn ended(&self) -> bool {
        let unmounted = !self.mounts.is_empty() && self.mounts.iter().all(CardMount::ended);
        self.cards.iter().any(|card| card.meter.broken()) || (unmounted && self.nbd.is_none())
    }

    /// What was counted so far, by card.
    pub fn reports(&self) -> Vec<ServeReport> {
        self.cards.iter().map(|card| card.report()).collect()
    }

    /// Unmounts and closes everything; gives what was counted.
    ///
    /// # Errors
    /// If a card broke while it was served; all the others are unmounted all the same.
    pub fn stop(mut self) -> Result<Vec<ServeReport>, ServeError> {
        drop(self.nbd.take());
        let ends: Vec<_> = self.mounts.iter_mut().map(CardMount::unmount).collect();
        let broken = self.cards.iter().find(|card| card.meter.broken());
        let broken = broken.map(|card| ServeError::Session {
            what: card.text.clone(),
            source: std::io::Error::other("a thread panicked; please report it"),
        });
        let close = |card: &Arc<ServedCard>| {
            if card.meter.broken() {
                card.live.abandon()
            }
            card.live.close()
        };
        let saved: Vec<_> = self.cards.iter().map(close).collect();
        let unsaved = saved.into_iter().find_map(Result::err).map(ServeError::from);
        match ends.into_iter().find_map(Result::err).or(broken).or(unsaved) {
            Some(error) => Err(error),
            None => Ok(self.reports()),
        }
    }
}

impl CardMount {
    fn new(card: &Arc<ServedCard>, directory: &Path, made: bool) -> Result<CardMount, ServeError> {
        let mut mount = CardMount { session: None, directory: directory.to_owned(), id: None, made };
        mount::prepare(directory)?;
        // The kernel's table knows whole paths only.
        mount.directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let mounted = fuse::mount(card, &mount.directory).map_err(|e| mount::explain(directory, &e))?;
        mount.session = Some(mounted);
        mount.id = mount::id(&mount.directory);
        Ok(mount)
    }

    fn ended(&self) -> bool {
        self.session.as_ref().is_none_or(|s| s.guard.is_finished())
    }

    fn unmount(&mut self) -> Result<(), ServeError> {
        let Some(session) = self.session.take() else { return Ok(()) };
        let ended = session.guard.is_finished();
        let result = match (ended, mount::id(&self.directory)) {
            // Ours whose threads broke, or, where somebody unmounted ours, something else that was mounted there since
            // and that the session would unmount in turn.
            (true, Some(found)) => {
                std::mem::forget(session);
                if self.id.as_ref() == Some(&found) {
                    mount::detach(&self.directory);
                }
                Ok(())
            }
            (true, None) => session.join(),
            (false, _) => within(UNMOUNTING, move || session.umount_and_join()),
        };
        match result {
            // A file that is still open keeps the kernel from unmounting: it is detached, and ends with us.
            Err(_) if !ended && (mount::id(&self.directory).is_none() || mount::detach(&self.directory)) => {
                Ok(())
            }
            Err(source) => Err(ServeError::Session { what: self.directory.display().to_string(), source }),
            Ok(()) => Ok(()),
        }
    }
}

impl Drop for CardMount {
    fn drop(&mut self) {
        // An error here has nobody to go to; `stop` tells it.
        let _ = self.unmount();
        if self.made {
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

/// What an act comes to, if it ends in time; it goes on by itself if not. A mount that an ordinary user detached ends
/// with the last file that is open on it.
fn within(time: Duration, act: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> std::io::Result<()> {
    let (tell, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(act()));
    ended.recv_timeout(time).unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()))
}

/// Two cards saved to one file would leave one of them.
fn saved_apart(cards: &[TargetSpec]) -> Result<(), ServeError> {
    let mut places = std::collections::BTreeSet::new();
    let mut all = cards.iter().filter_map(|card| card.storage.save.as_ref());
    let twice =
        all.find(|path| !places.insert(std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())));
    twice.map_or(Ok(()), |path| {
        let reason = "two cards are to be saved there; give each its own file";
        Err(StateError::Unwritable(path.display().to_string(), reason.to_owned()).into())
    })
}

/// The cards' own names; a second card of a name gets `-2`.
fn names(cards: &[TargetSpec]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for card in cards {
        let own = card.archetype.name.clone();
        let numbered = (2..).map(|n: u32| format!("{own}-{n}"));
        let name = std::iter::once(own.clone()).chain(numbered).find(|name| !names.contains(name));
        names.push(name.unwrap_or(own));
    }
    names
}

/// Serves cards until `stop` is raised or somebody unmounts them. `ready` is told once they can be used. Gives what
/// was counted.
///
/// # Errors
/// If they cannot be mounted, or break while they are served.
pub fn serve(
    job: &ServeJob,
    stop: &InterruptFlag,
    ready: impl FnOnce(&CardServer),
) -> Result<Vec<ServeReport>, ServeError> {
    let server = CardServer::start(job)?;
    ready(&server);
    while !stop.raised() && !server.ended() {
        std::thread::sleep(LOOK);
    }
    server.stop()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_in_time_is_left_behind() {
        let hang = || {
            std::thread::sleep(Duration::from_secs(30));
            Ok(())
        };
        assert_eq!(within(Duration::from_millis(20), hang).unwrap_err().kind(), std::io::ErrorKind::TimedOut);
        assert!(within(Duration::from_secs(20), || Ok(())).is_ok());
    }
}
