//! Types of the HTTP API. The OpenAPI document and the app's TypeScript types are generated from them.
//!
//! Sizes are bytes, times seconds, speeds MB/s (10^6 bytes a second), temperatures °C, probabilities 0 to 1.

mod archive;
mod devices;

pub use archive::*;
pub use devices::*;
