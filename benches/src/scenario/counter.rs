//! IDs from a generator, every one used: a counted loop in which each ID goes through `black_box`. And counts: the same loop, in
//! which each value to add comes from `black_box`.
//!
//! [`no_generator`] and [`no_counter`] are the same loops alone: what loop and `black_box` cost, and part of every other figure.

use core::hint::black_box;

use jeton_core::counter::IdGenerator;

/// Takes `calls` IDs and returns the last one; 0 if `calls` is 0.
///
/// # Errors
/// The generator's, once it is exhausted.
#[inline]
pub fn every_id_used<G: IdGenerator<Id = u32>>(ids: &G, calls: u32) -> Result<u32, G::Error> {
    let mut last = 0;
    for _ in 0..calls {
        last = black_box(ids.try_next_id()?);
    }
    Ok(last)
}

/// The loop's own counter in the place of the ID.
#[inline]
pub fn no_generator(calls: u32) -> u32 {
    let mut last = 0;
    for call in 0..calls {
        last = black_box(call);
    }
    last
}

/// Adds 1 to a counter `calls` times.
#[inline]
pub fn every_value_added(calls: u32, mut add: impl FnMut(u64)) {
    for _ in 0..calls {
        add(black_box(1));
    }
}

/// Adds to nothing.
#[inline]
pub fn no_counter(calls: u32) {
    every_value_added(calls, |value| _ = value);
}

#[cfg(test)]
mod tests {
    use jeton_core::counter::{Exhaust, Exhausted, Http2ClientStreams, KuduCallIds, NonZeroU32Ids, OwnerIds, SharedIds};

    use super::*;

    #[test]
    fn the_last_id_comes_back() {
        assert_eq!(every_id_used(&OwnerIds::<KuduCallIds>::new(), 1000), Ok(999));
        assert_eq!(every_id_used(&SharedIds::<NonZeroU32Ids>::new(), 1000), Ok(1000));
        assert_eq!(every_id_used(&SharedIds::<Http2ClientStreams, Exhaust>::new(), 1000), Ok(1999));
        assert_eq!(no_generator(1000), 999);
    }

    #[test]
    fn every_value_arrives() {
        let mut sum = 0;
        every_value_added(1000, |value| sum += value);
        assert_eq!(sum, 1000);
    }

    #[test]
    fn no_call_takes_no_id() {
        let ids = OwnerIds::<NonZeroU32Ids>::new();
        assert_eq!(every_id_used(&ids, 0), Ok(0));
        assert_eq!(ids.next_id(), 1);
        assert_eq!(no_generator(0), 0);
    }

    #[test]
    fn an_exhausted_generator_ends_the_run() -> Result<(), Box<dyn std::error::Error>> {
        let ids = OwnerIds::<Http2ClientStreams, Exhaust>::starting_at(0x7fff_ffff)?;
        assert_eq!(every_id_used(&ids, 2), Err(Exhausted));
        Ok(())
    }
}
