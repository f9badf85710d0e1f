#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cardscope_import::holds::check("iozone", bytes));
