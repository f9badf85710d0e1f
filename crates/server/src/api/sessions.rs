//! What was measured, session by session.

use cardscope_model::report::Tone;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// A window of the sessions, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Sessions {
    /// Sessions that there are.
    pub total: usize,
    /// The window.
    pub sessions: Vec<SessionLine>,
}

/// Which part of a list is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub struct Window {
    /// How many to pass over.
    pub offset: Option<usize>,
    /// How many to give, 50 unless said otherwise, 1000 at most.
    pub limit: Option<usize>,
}

/// A session in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionLine {
    /// Its name.
    pub session: String,
    /// When it began, UTC.
    pub started_at: String,
    /// The target as it was named.
    pub target: String,
    /// The card's title, where it has one.
    pub title: Option<String>,
    /// `bench`, `check`, `import` …
    pub kind: String,
    /// The recipe of a benchmark.
    pub recipe: Option<String>,
    /// `complete`, `interrupted`, `failed`, `running` or `crashed`.
    pub state: String,
    /// What came of it.
    pub answer: String,
    /// How good that is.
    pub tone: Tone,
    /// The check that it is a part of.
    pub part_of: Option<String>,
}

/// A session with its page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Its name.
    pub session: String,
    /// The verb, or `import`.
    pub kind: String,
    /// The first line of its page.
    pub answer: String,
    /// How good that is.
    pub tone: Tone,
    /// Its page as a fragment of HTML.
    pub html: String,
    /// Its page as a tree of blocks.
    #[schema(value_type = Object)]
    pub page: Value,
    /// Its document, in the words of docs/results.md.
    #[schema(value_type = Object)]
    pub document: Value,
}
