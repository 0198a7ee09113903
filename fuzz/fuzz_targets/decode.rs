//! Any bytes: see `pelwatch::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pelwatch::fuzzing::decode(bytes));
