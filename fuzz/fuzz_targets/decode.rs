//! Any bytes: see `pelwatch::testing::fuzzing`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pelwatch::testing::fuzzing::decode(bytes));
