//! Any bytes as the memory of a log.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    jeton_models::fuzz::log_reader(bytes);
});
