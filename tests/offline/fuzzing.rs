//! The bodies of the fuzz targets, on the same inputs in every run. `PELWATCH_FUZZ_INPUTS=1000000` searches longer.

use pelwatch::testing::fuzzing;

/// Random-looking bytes that never change (Steele, Lea and Flood: Fast splittable pseudorandom number generators).
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let length = next() % 1200;
    (0..length).map(|_| next() as u8).collect()
}

/// Runs `inputs` inputs; each test's number takes a second or two in a debug build.
fn run(body: fn(&[u8]), inputs: u64) {
    let inputs = std::env::var("PELWATCH_FUZZ_INPUTS").ok().and_then(|count| count.parse().ok()).unwrap_or(inputs);
    body(&[]);
    for seed in 0..inputs {
        let input = bytes(seed);
        // a failing input is named by its seed, so that it can be run alone
        assert!(std::panic::catch_unwind(|| body(&input)).is_ok(), "input {seed} fails");
    }
}

#[test]
fn no_reply_panics_a_decoder_or_gives_an_impossible_number() {
    run(fuzzing::decode, 20_000);
}

#[test]
fn no_ticks_panic_the_store_or_give_an_impossible_number() {
    run(fuzzing::fold, 500);
}
