//! What all requests share.

use crate::hosts::AllowedHosts;
use crate::hub::EventLog;
use crate::shelf::CardIndex;
use crate::tasks::TaskQueue;
use crate::token::AccessToken;
use crate::uploads::UploadFolder;
use cardscope_archive::AnswerCache;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// What all requests share.
pub(crate) struct ServerState {
    pub(crate) address: SocketAddr,
    pub(crate) hosts: AllowedHosts,
    /// Secret of this start, which writes.
    pub(crate) token: AccessToken,
    /// Secret of the cookie, which reads.
    pub(crate) reading: AccessToken,
    pub(crate) archive: Option<PathBuf>,
    /// Whether fixed disks and loop devices are listed, too.
    pub(crate) all_devices: bool,
    pub(crate) hub: Arc<EventLog>,
    pub(crate) tasks: Arc<TaskQueue>,
    pub(crate) shelf: CardIndex,
    pub(crate) answers: AnswerCache,
    pub(crate) uploads: UploadFolder,
    /// True once it is about to end: streams of events end with it.
    pub(crate) closing: tokio::sync::watch::Sender<bool>,
}
