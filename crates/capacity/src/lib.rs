//! Capacity test: a quick probe that preserves the data, a full pass over every block, or files in free space.
#![forbid(unsafe_code)]

pub mod page;
pub mod probe {
    pub mod files;
    pub mod full;
    pub mod quick;
}
pub mod request;
pub mod verb;
