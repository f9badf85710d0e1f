//! What was measured, session by session.

use super::analysis::RenderedPage;
use cardscope_archive as archive;
use cardscope_model::archived::SessionOverview;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// A window of the sessions, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionWindow {
    /// Sessions that there are.
    pub total: usize,
    /// The window.
    pub sessions: Vec<SessionLine>,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct ListWindow {
    /// How many to pass over.
    pub offset: Option<usize>,
    /// How many to give, 50 unless said otherwise, 1000 at most.
    pub limit: Option<usize>,
}

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionLine {
    #[serde(flatten)]
    pub session: SessionOverview,
    /// The answer of its page, or how many runs it has.
    pub answer: String,
}

impl From<archive::SessionLine> for SessionLine {
    fn from(line: archive::SessionLine) -> Self {
        SessionLine { session: line.session, answer: line.result }
    }
}

/// A session with its page; the document in the words of docs/results.md.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionResource {
    /// Its name.
    pub session: String,
    /// The verb, or `import`.
    pub kind: String,
    #[serde(flatten)]
    pub made: RenderedPage,
    /// Its page as a tree of blocks.
    #[schema(value_type = Object)]
    pub page: Value,
}
