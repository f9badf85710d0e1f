//! Sessions of the archive.

use super::analysis::RenderedPage;
use cardscope_archive as archive;
use cardscope_model::archive_rows::SessionOverview;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionWindow {
    /// Number of all sessions.
    pub total: usize,
    pub sessions: Vec<SessionLine>,
}

/// Page of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ListWindow {
    pub offset: Option<usize>,
    /// Number of entries, 50 by default, at most 1000.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionLine {
    #[serde(flatten)]
    pub session: SessionOverview,
    /// Answer of the session's page, or its number of runs.
    pub answer: String,
}

impl From<archive::SessionLine> for SessionLine {
    fn from(line: archive::SessionLine) -> Self {
        SessionLine { session: line.session, answer: line.result }
    }
}

/// Session with its page and its document (see docs/results.md).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionResource {
    pub session: String,
    /// Verb, or `import`.
    pub kind: String,
    #[serde(flatten)]
    pub made: RenderedPage,
    /// Page as a tree of blocks.
    #[schema(value_type = Object)]
    pub page: Value,
}
