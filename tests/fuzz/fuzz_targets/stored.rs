#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| dehusk_fuzz::stored(data));
