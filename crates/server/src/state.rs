//! State shared by all requests, and work that blocks on it.

use crate::card_index::{CardIndex, CardSnapshot};
use crate::event_log::EventLog;
use crate::refusal::{RequestRefusal, Result};
use crate::tasks::TaskQueue;
use crate::token::AccessToken;
use crate::uploads::UploadFolder;
use axum::extract::State;
use axum::http::StatusCode;
use cardscope_archive::AnswerCache;
use cardscope_session::options::ArchiveAt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub(crate) struct ServerState {
    pub(crate) address: SocketAddr,
    pub(crate) hosts: AllowedHosts,
    /// Secret for all requests, new at each start unless it comes from a file.
    pub(crate) token: AccessToken,
    /// Secret of the cookie, for reading only.
    pub(crate) read_token: AccessToken,
    pub(crate) archive: Option<PathBuf>,
    /// True if fixed disks and loop devices are listed as well.
    pub(crate) all_devices: bool,
    pub(crate) events: Arc<EventLog>,
    pub(crate) tasks: Arc<TaskQueue>,
    pub(crate) card_index: CardIndex,
    pub(crate) answers: AnswerCache,
    pub(crate) uploads: UploadFolder,
    /// Set to true before shutdown, which ends the event streams.
    pub(crate) closing: tokio::sync::watch::Sender<bool>,
}

pub(crate) type SharedState = State<Arc<ServerState>>;

impl ServerState {
    pub(crate) fn archive_option(&self) -> ArchiveAt {
        ArchiveAt { archive: self.archive.clone() }
    }

    pub(crate) fn cards(&self) -> Result<Arc<CardSnapshot>> {
        self.card_index.load(self.archive.as_deref())
    }
}

/// Runs blocking work on a thread of the pool.
pub(crate) async fn run_blocking<T: Send + 'static>(
    State(server): SharedState,
    work: impl FnOnce(&ServerState) -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(move || work(&server)).await.unwrap_or_else(|e| {
        let why = format!("Cardscope failed at this: {e}; please report it");
        Err(RequestRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, why))
    })
}

/// Host names that requests may use.
#[derive(Debug, Clone)]
pub(crate) struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    /// The address itself, all names of the loopback interface if it listens there, and the user's names.
    pub(crate) fn from_address(address: SocketAddr, added: &[String]) -> Self {
        let port = address.port();
        let mut names = vec![address.to_string()];
        if address.ip().is_loopback() || address.ip().is_unspecified() {
            names.extend(["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}")));
        }
        for name in added {
            names.push(format!("{name}:{port}"));
            names.push(name.clone());
        }
        names.iter_mut().for_each(|name| name.make_ascii_lowercase());
        AllowedHosts(names)
    }

    pub(crate) fn contains(&self, host: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cardscope_verbs::list::answer_of_document;

    /// Server without a listener.
    pub(crate) fn server(archive: Option<PathBuf>) -> ServerState {
        let (address, events) = (([127, 0, 0, 1], 0).into(), Arc::new(EventLog::new()));
        ServerState {
            address,
            hosts: AllowedHosts::from_address(address, &[]),
            token: AccessToken::random().unwrap(),
            read_token: AccessToken::random().unwrap(),
            archive,
            all_devices: false,
            tasks: TaskQueue::new(Arc::clone(&events), "/nonexistent".into(), None, None),
            events,
            card_index: CardIndex::default(),
            answers: AnswerCache::new(answer_of_document),
            uploads: UploadFolder::new().unwrap(),
            closing: tokio::sync::watch::Sender::new(false),
        }
    }

    #[test]
    fn only_exact_own_names_are_allowed_hosts() {
        let hosts = AllowedHosts::from_address("127.0.0.1:7373".parse().unwrap(), &["pi.local".to_owned()]);
        for ours in ["127.0.0.1:7373", "LOCALHOST:7373", "[::1]:7373", "pi.local:7373", "pi.local"] {
            assert!(hosts.contains(ours), "{ours}");
        }
        for other in [
            "",
            "localhost",
            "localhost.evil.example:7373",
            "127.0.0.1:80",
            "evil.example",
            "127.0.0.1:73730",
        ] {
            assert!(!hosts.contains(other), "{other}");
        }
        let wide = AllowedHosts::from_address("192.168.1.9:7373".parse().unwrap(), &[]);
        assert!(wide.contains("192.168.1.9:7373") && !wide.contains("localhost:7373"));
    }
}
