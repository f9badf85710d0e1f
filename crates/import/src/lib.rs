//! Import of other tools' logs: readers of their formats, the verb `import`, and its page.
#![forbid(unsafe_code)]

pub mod page;
pub mod readers;
pub mod verb;
