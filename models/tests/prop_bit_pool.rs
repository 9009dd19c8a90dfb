//! Properties of `BitPool`, for any calls, any base and any capacity:
//!
//! 1. every call answers as the specification with the smallest ID first does;
//! 2. a refused call leaves the pool as it was;
//! 3. the free IDs and their number are those of the specification after every call.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use jeton_core::pool::{BitPool, BitWord, BorrowedBitPool, RangeError, SliceError, bit_pool_words};
use jeton_models::spec::pool::{Choice, FreeIds};
use proptest::{collection::vec, prelude::*};

#[derive(Clone, Debug)]
enum Act {
    Alloc(usize),
    AllocInto(usize),
    Free(u32),
    FreeSlice(Vec<u32>),
    Reserve(u32),
}

/// Offsets from the base, some of them outside.
fn acts(capacity: u32) -> impl Strategy<Value = Vec<Act>> {
    let offset = move || prop_oneof![8 => 0..capacity.max(1), 1 => capacity.saturating_sub(2)..capacity + 3, 1 => any::<u32>()];
    let act = prop_oneof![
        (1..40usize).prop_map(Act::Alloc),
        (0..80usize).prop_map(Act::AllocInto),
        offset().prop_map(Act::Free),
        vec(offset(), 0..40).prop_map(Act::FreeSlice),
        offset().prop_map(Act::Reserve),
    ];
    vec(act, 0..60)
}

fn a_capacity() -> impl Strategy<Value = u32> {
    prop_oneof![0..70u32, 1000..1100u32, 2020..2080u32]
}

fn cases() -> impl Strategy<Value = (u32, u32, Vec<Act>)> {
    let base = |capacity: u32| {
        let highest = u32::MAX - capacity.saturating_sub(1);
        prop_oneof![Just(0), Just(highest), 0..=highest]
    };
    a_capacity().prop_flat_map(move |capacity| (base(capacity), Just(capacity), acts(capacity)))
}

/// The public calls of both pools.
macro_rules! check_against_spec {
    ($pool:expr, $acts:expr) => {{
        let (pool, base, capacity) = (&$pool, $pool.base(), $pool.capacity());
        let mut spec = FreeIds::new(Choice::Smallest, base, capacity);
        for act in $acts {
            match act {
                Act::Alloc(calls) => {
                    for _ in 0..calls {
                        prop_assert_eq!(pool.alloc(), spec.alloc());
                    }
                }
                Act::AllocInto(len) => {
                    let mut ids = vec![0; len];
                    let count = pool.alloc_into(&mut ids);
                    let expected: Vec<u32> = (0..len).map_while(|_| spec.alloc().ok()).collect();
                    prop_assert_eq!(&ids[..count], &expected[..]);
                }
                Act::Free(offset) => {
                    let id = base.wrapping_add(offset);
                    prop_assert_eq!(pool.free(id), spec.free(id));
                }
                Act::FreeSlice(offsets) => {
                    let ids: Vec<u32> = offsets.iter().map(|offset| base.wrapping_add(*offset)).collect();
                    let mut expected = Ok(());
                    for (freed, &id) in ids.iter().enumerate() {
                        if let Err(error) = spec.free(id) {
                            expected = Err(SliceError { freed, error });
                            break;
                        }
                    }
                    prop_assert_eq!(pool.free_slice(&ids), expected);
                }
                Act::Reserve(offset) => {
                    let id = base.wrapping_add(offset);
                    prop_assert_eq!(pool.reserve(id), spec.reserve(id));
                }
            }
            prop_assert_eq!(pool.allocated() as usize + spec.available(), capacity as usize);
        }
        prop_assert_eq!(pool.free_ids().collect::<Vec<_>>(), spec.free_ids().collect::<Vec<_>>());
        for id in [base, base.wrapping_sub(1), base.wrapping_add(capacity), base.wrapping_add(capacity / 2)] {
            let expected = id.wrapping_sub(base) < capacity && !spec.free_ids().any(|free| free == id);
            prop_assert_eq!(pool.is_allocated(id), expected);
        }
    }};
}

proptest! {
    #[test]
    fn a_pool_over_borrowed_words_answers_as_the_specification((base, capacity, acts) in cases()) {
        let words: Vec<BitWord> = (0..bit_pool_words(capacity)).map(|_| BitWord::new()).collect();
        let pool = BorrowedBitPool::new(&words, base, capacity).expect("words and numbers enough");
        check_against_spec!(pool, acts);
    }

    #[test]
    fn an_owning_pool_answers_as_the_specification(acts in acts(1057)) {
        let pool = BitPool::<1057, { bit_pool_words(1057) }, 4_294_966_239>::new();
        check_against_spec!(pool, acts);
    }

    #[test]
    fn a_range_is_refused_exactly_if_it_is_too_long_for_the_words_or_the_numbers(
        base in prop_oneof![Just(0), any::<u32>(), u32::MAX - 2000..],
        capacity in prop_oneof![0..3000u32, any::<u32>()],
        words in 0..100usize,
    ) {
        let words: Vec<BitWord> = (0..words).map(|_| BitWord::new()).collect();
        let expected = if u64::from(base) + u64::from(capacity) > 1 << 32 {
            Some(RangeError::PastLastId { base, capacity })
        } else if bit_pool_words(capacity) > words.len() {
            Some(RangeError::StorageTooSmall { capacity })
        } else {
            None
        };
        prop_assert_eq!(BorrowedBitPool::new(&words, base, capacity).err(), expected);
    }
}
