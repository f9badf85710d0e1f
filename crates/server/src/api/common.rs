//! Error answer shared by all routes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Reason why a request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiProblem {
    /// Sentence with the failure, its cause and the remedy.
    pub error: String,
    /// True if the request loses data and lacks its `confirm`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_consent: bool,
}
