//! The fuzz targets, with inputs that are the same in each run: so that they are built and hold between the fuzzers' runs.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use jeton_models::fuzz;

/// Inputs of up to `most` bytes, of three kinds: any bytes; mostly zeros; and words as a log's headers look.
fn inputs(number: u32, most: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut state = 0x9e37_79b9_u32;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..number).map(move |number| {
        let len = random() as usize % (most + 1);
        match number % 3 {
            0 => (0..len).map(|_| random() as u8).collect(),
            1 => (0..len).map(|_| if random() % 4 == 0 { random() as u8 } else { 0 }).collect(),
            _ => (0..len / 4).flat_map(|_| (random() % 200 * 8 % 160 + random() % 5).to_le_bytes()).collect(),
        }
    })
}

const INPUTS: u32 = if cfg!(miri) { 30 } else { 60_000 };

#[test]
fn buffers_do_what_a_vector_would_for_any_bytes() {
    inputs(INPUTS, 400).for_each(|input| fuzz::cursor(&input));
}

#[test]
fn logs_of_any_bytes_are_refused_or_read_to_their_end() {
    let (mut accepted, mut refused) = ([0; 2], [0; 2]);
    for input in inputs(INPUTS, 200) {
        for (at, is_a_log) in fuzz::log_reader(&input).into_iter().enumerate() {
            *(if is_a_log { &mut accepted } else { &mut refused }).get_mut(at).expect("one of two") += 1;
        }
    }
    assert!(
        cfg!(miri) || [accepted, refused].as_flattened().iter().all(|number| *number > INPUTS / 100),
        "{accepted:?} {refused:?}"
    );
}
