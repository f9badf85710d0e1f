//! Capacity test: a quick probe that preserves the data, a full pass over every block, or files in free space.
#![forbid(unsafe_code)]

pub mod page;
pub mod probe {
    pub mod files;
    pub mod full;
    pub mod quick;

    type Result<T, E = cardscope_engine::io_driver::ProbeStop> = std::result::Result<T, E>;
}
pub mod request;
pub mod verb;
