//! State shared by all requests.

use crate::card_index::CardIndex;
use crate::event_log::EventLog;
use crate::hosts::AllowedHosts;
use crate::tasks::TaskQueue;
use crate::token::AccessToken;
use crate::uploads::UploadFolder;
use cardscope_archive::AnswerCache;
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
