//! Bytes as a log: for the importer that the environment names in `FORMAT`, or for whichever takes them.
#![no_main]

use cardscope_import::readers::invariants;
use std::sync::LazyLock;

static FORMAT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("FORMAT").ok());

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| match FORMAT.as_deref() {
    Some(format) => invariants::check(format, bytes),
    None => invariants::check_any(bytes),
});
