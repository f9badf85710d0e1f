//! What every answer may hold.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApiProblem {
    /// What failed, on what, why, and what to do; a sentence.
    pub error: String,
    /// True for an order that loses data and lacks its `confirm`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_consent: bool,
}
