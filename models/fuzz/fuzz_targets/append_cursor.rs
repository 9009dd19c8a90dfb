//! Any bytes as calls of buffers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| jeton_models::fuzz::cursor(bytes));
