//! How firmly a commit is written.

/// How firmly a commit is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Firmness {
    /// On disk with the next [`Firmness::Now`]; safe against a crash of the process at once.
    Later,
    /// On disk before the call returns.
    Now,
}
