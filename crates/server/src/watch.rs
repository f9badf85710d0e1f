//! What changes beside the server: cards that come and go, and an archive that others write to.

use crate::Server;
use cardscope_session::identify;
use serde_json::json;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often is looked.
const EVERY: Duration = Duration::from_secs(1);

/// Tells of both for as long as the server lives.
pub(crate) fn start(server: &Arc<Server>) -> std::io::Result<()> {
    let server = Arc::downgrade(server);
    std::thread::Builder::new().name("watch".into()).spawn(move || watch(&server)).map(drop)
}

fn watch(server: &Weak<Server>) {
    let mut present = identify::present();
    loop {
        std::thread::sleep(EVERY);
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
