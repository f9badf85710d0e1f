//! The computer: what it is, and what waits on it.

use cardscope_model::restore::WaitingJournal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The computer that the server runs on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostInfo {
    /// Version of Cardscope.
    pub version: String,
    /// The computer's name.
    pub hostname: String,
    /// Where the archive lies; a database without its password.
    pub archive: String,
    /// Why nothing can be stored in it, where that is so.
    pub archive_problem: Option<String>,
    /// Whether the server runs as root.
    pub root: bool,
}

/// A client's random number, used once.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ClientNonce {
    /// 32 to 128 hex digits.
    pub nonce: String,
}

/// What only a server that knows the token can answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenProof {
    /// HMAC-SHA-256 in hex.
    pub proof: String,
}

/// Journals that wait for their cards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JournalList {
    /// The journals, oldest first.
    pub journals: Vec<Journal>,
}

/// What a test saved before it overwrote it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Journal {
    /// Its name for an order to restore.
    pub name: String,
    #[serde(flatten)]
    pub waiting: WaitingJournal,
}
