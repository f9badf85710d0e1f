//! Verbs that can be ordered.

use cardscope_verbs::description::VerbDescription;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Verbs that can be ordered, in the order of a menu.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Verbs {
    pub verbs: Vec<VerbDescription>,
}
