//! Host computer and its journals.

use cardscope_model::restore::WaitingJournal;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Computer that runs the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostInfo {
    pub version: String,
    pub hostname: String,
    /// Path of the archive, or address of its database without the password.
    pub archive: String,
    /// Reason why the archive cannot be written; null if it can.
    pub archive_problem: Option<String>,
    pub root: bool,
}

/// Random number of a client, for one use.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ClientNonce {
    /// 32 to 128 hex digits.
    pub nonce: String,
}

/// Proof that the server knows the token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenProof {
    /// HMAC-SHA-256 in hex.
    pub proof: String,
}

/// Journals with unrestored data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JournalList {
    /// Oldest first.
    pub journals: Vec<Journal>,
}

/// Saved data of an interrupted test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Journal {
    /// Name for a request to restore it.
    pub name: String,
    #[serde(flatten)]
    pub waiting: WaitingJournal,
}
