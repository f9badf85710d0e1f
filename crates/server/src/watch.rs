//! What changes beside the server: cards that come and go, and an archive that tests and other servers write to.

use crate::state::ServerState;
use cardscope_archive as archive;
use cardscope_identity::verb as identify;
use serde_json::json;
use std::sync::{Arc, Weak};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// How often is looked.
const EVERY: Duration = Duration::from_secs(1);

/// After the cards were read, nobody reads them again for so many times as long: a large archive that is written to is not read
/// all the time.
const REST: u32 = 4;

/// Tells of both for as long as the server lives.
pub(crate) fn start(server: &Arc<ServerState>) -> std::io::Result<()> {
    let (of_devices, of_archive) = (Arc::downgrade(server), Arc::downgrade(server));
    Builder::new().name("devices".into()).spawn(move || devices(&of_devices))?;
    Builder::new().name("archive".into()).spawn(move || changes(&of_archive))?;
    Ok(())
}

fn devices(server: &Weak<ServerState>) {
    let mut present = identify::present();
    loop {
        sleep(EVERY);
        let Some(server) = server.upgrade() else { return };
        // Nobody listens: who comes asks for all of it.
        if server.hub.listeners() == 0 {
            continue;
        }
        let now = identify::present();
        if now != present {
            present = now;
            server.hub.tell("devices", &json!({}));
        }
    }
}

fn changes(server: &Weak<ServerState>) {
    let Some(path) = server.upgrade().map(|server| server.archive.clone()) else { return };
    let Ok(mut changes) = archive::changes(path.as_deref()) else { return };
    loop {
        // An archive that cannot be read now may be there again later.
        let changed = changes.wait(EVERY).unwrap_or_else(|_| {
            sleep(EVERY);
            false
        });
        let Some(server) = server.upgrade() else { return };
        if !changed {
            continue;
        }
        let began = Instant::now();
        // Who never listed cards needs none; what cannot be read is said to whoever asks for it.
        if server.shelf.at_hand().is_some() {
            let _ = server.shelf.refresh(path.as_deref());
        }
        server.hub.tell("archive", &json!({}));
        drop(server);
        sleep(EVERY.max(began.elapsed() * REST));
    }
}
