//! What all requests share.

use crate::hosts::Hosts;
use crate::hub::Hub;
use crate::shelf::Shelf;
use crate::tasks::Tasks;
use crate::token::Token;
use crate::uploads::Uploads;
use cardscope_archive::AnswerCache;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// What all requests share.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) hosts: Hosts,
    /// Secret of this start, which writes.
    pub(crate) token: Token,
    /// Secret of the cookie, which reads.
    pub(crate) reading: Token,
    pub(crate) archive: Option<PathBuf>,
    /// Whether fixed disks and loop devices are listed, too.
    pub(crate) all_devices: bool,
    pub(crate) hub: Arc<Hub>,
    pub(crate) tasks: Arc<Tasks>,
    pub(crate) shelf: Shelf,
    pub(crate) answers: AnswerCache,
    pub(crate) uploads: Uploads,
    /// True once it is about to end: streams of events end with it.
    pub(crate) closing: tokio::sync::watch::Sender<bool>,
}
