//! Background threads that report inserted cards and changes of the archive by tests and other programs.

use crate::state::ServerState;
use cardscope_archive as archive;
use cardscope_identity::verb as identify;
use std::sync::{Arc, Weak};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// Interval of polling.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Pause after reading the cards, as a multiple of the time it took: a large archive under continuous writes is not
/// read all the time.
const PAUSE_FACTOR: u32 = 4;

/// Starts both threads, which end with the server.
pub(crate) fn start_watchers(server: &Arc<ServerState>) -> std::io::Result<()> {
    let (of_devices, of_archive) = (Arc::downgrade(server), Arc::downgrade(server));
    Builder::new().name("devices".into()).spawn(move || watch_devices(&of_devices))?;
    Builder::new().name("archive".into()).spawn(move || watch_archive(&of_archive))?;
    Ok(())
}

fn watch_devices(server: &Weak<ServerState>) {
    let mut present = identify::presence_text();
    loop {
        sleep(POLL_INTERVAL);
        let Some(server) = server.upgrade() else { return };
        // Without listeners no event is needed: new clients load the whole list.
        if server.events.listener_count() == 0 {
            continue;
        }
        let now = identify::presence_text();
        if now != present {
            present = now;
            server.events.publish_change("devices");
        }
    }
}

fn watch_archive(server: &Weak<ServerState>) {
    let Some(path) = server.upgrade().map(|server| server.archive.clone()) else { return };
    let mut changes = archive::watch_changes(path.as_deref()).ok();
    loop {
        // An unreadable archive may become readable; its changes until then were missed.
        let changed = match &mut changes {
            Some(changes) => changes.wait(POLL_INTERVAL).unwrap_or_else(|_| {
                sleep(POLL_INTERVAL);
                false
            }),
            None => {
                sleep(POLL_INTERVAL);
                changes = archive::watch_changes(path.as_deref()).ok();
                changes.is_some()
            }
        };
        let Some(server) = server.upgrade() else { return };
        if !changed {
            continue;
        }
        let began = Instant::now();
        // Cards that nobody has listed are not loaded. A read error is reported to the next request.
        if server.card_index.current().is_some() {
            let _ = server.card_index.refresh(path.as_deref());
        }
        server.events.publish_change("archive");
        drop(server);
        sleep(POLL_INTERVAL.max(began.elapsed() * PAUSE_FACTOR));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_that_is_repaired_after_the_start_is_watched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.sqlite");
        std::fs::write(&path, "not an archive").unwrap();
        let server = Arc::new(crate::state::tests::server(Some(path.clone())));
        let mut events = server.events.subscribe(None).receiver;
        let watched = Arc::downgrade(&server);
        let watcher = std::thread::spawn(move || watch_archive(&watched));
        sleep(POLL_INTERVAL / 2);
        std::fs::remove_file(&path).unwrap();
        archive::create_if_missing(Some(&path)).unwrap();
        let began = Instant::now();
        while events.is_empty() && began.elapsed() < 20 * POLL_INTERVAL {
            sleep(POLL_INTERVAL / 10);
        }
        assert_eq!(events.try_recv().unwrap().name, "archive");
        drop(server);
        watcher.join().unwrap();
    }
}
