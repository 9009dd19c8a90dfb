//! Properties of the generators, for any calls and for spaces of every kind:
//!
//! 1. the IDs are those of the specification, in its order, from every start, over every wrap and past exhaustion;
//! 2. a refused start hands the value back and is exactly a value that the specification refuses;
//! 3. `remaining` is the number of calls that still succeed;
//! 4. `resume_after(id)` goes on as a generator that has just handed out `id`.

use jeton_core::counter::{
    Exhaust, Exhausted, Http2ClientStreams, Http2ServerStreams, IdSpace, KuduCallIds, NonZeroU32Ids, NotInSpace, OwnerIds,
    SharedIds, SharedWord, Space, Word,
};
use jeton_models::spec::counter::{End, Ids};
use proptest::prelude::*;

macro_rules! spaces {
    ($($name:ident: $word:ty = $space:expr;)+) => {$(
        #[derive(Debug)]
        enum $name {}
        impl Space for $name {
            type Word = $word;
            const SPACE: IdSpace = $space;
        }
    )+};
}

spaces! {
    OneBit: u32 = IdSpace::bits(1);
    OneId: u32 = IdSpace::bits(1).odd();
    HoleInside: u32 = IdSpace::bits(4).reserve(9);
    HoleAboveRange: u32 = IdSpace::bits(4).reserve_below(5).reserve(5);
    HoleAtTop: u32 = IdSpace::bits(4).reserve_below(3).reserve(15);
    AllButOne: u32 = IdSpace::bits(4).reserve_below(14).reserve(14);
    EvenFromTheMiddle: u32 = IdSpace::bits(5).even().reserve_below(3).reserve(12).first(20);
    OddWithHole: u32 = IdSpace::bits(5).odd().reserve_below(4).reserve(31);
    WideRange: u32 = IdSpace::bits(32).reserve_below(1 << 31);
    FullU32: u32 = IdSpace::bits(32);
    FullU64: u64 = IdSpace::bits(64);
    NonZeroU64: u64 = IdSpace::bits(64).reserve_below(1).reserve(u64::MAX);
    SmallInU64: u64 = IdSpace::bits(3).reserve(0);
    OddU64: u64 = IdSpace::bits(63).odd().reserve(i64::MAX as u64);
}

/// Begins with `start`, or is refused.
fn wrap_against_spec<S: Space<Word: SharedWord>>(start: u64, calls: usize) -> Result<(), TestCaseError> {
    let start = S::Word::truncate(start);
    let spec = Ids::starting_at(S::SPACE, End::Wrap, start.widen(), 0);
    let (owner, shared) = (OwnerIds::<S>::starting_at(start), SharedIds::<S>::starting_at(start));
    let resumed = (OwnerIds::<S>::resume_after(start), SharedIds::<S>::resume_after(start));
    let Some(mut spec) = spec else {
        prop_assert_eq!((owner.err(), shared.err()), (Some(NotInSpace(start)), Some(NotInSpace(start))));
        prop_assert_eq!((resumed.0.err(), resumed.1.err()), (Some(NotInSpace(start)), Some(NotInSpace(start))));
        return Ok(());
    };
    let (owner, shared) = (owner?, shared?);
    let resumed = (resumed.0?, resumed.1?);
    for call in 0..calls {
        let expected = spec.next_id();
        prop_assert_eq!((Some(owner.next_id().widen()), Some(shared.next_id().widen())), (expected, expected));
        if call > 0 {
            prop_assert_eq!((Some(resumed.0.next_id().widen()), Some(resumed.1.next_id().widen())), (expected, expected));
        }
    }
    Ok(())
}

/// Begins `before_end` IDs before exhaustion.
fn exhaust_against_spec<S: Space<Word: SharedWord>>(before_end: u64, calls: usize) -> Result<(), TestCaseError> {
    let capacity = OwnerIds::<S, Exhaust>::CAPACITY;
    prop_assert_eq!(capacity, SharedIds::<S, Exhaust>::CAPACITY);
    let before = capacity - before_end.clamp(1, capacity);
    let start = id_after::<S>(capacity, before);
    let spec = Ids::starting_at(S::SPACE, End::Exhaust { capacity }, start, before);
    let mut spec = spec.ok_or_else(|| TestCaseError::fail(format!("{start} is no ID of {:?}", S::SPACE)))?;
    let id = S::Word::truncate(start);
    let (owner, shared) = (OwnerIds::<S, Exhaust>::starting_at(id)?, SharedIds::<S, Exhaust>::starting_at(id)?);
    let resumed = OwnerIds::<S, Exhaust>::resume_after(id)?;
    for call in 0..calls {
        prop_assert_eq!(
            (owner.remaining(), shared.remaining()),
            (before_left(capacity, before, call), before_left(capacity, before, call))
        );
        let expected = spec.next_id().ok_or(Exhausted);
        prop_assert_eq!(owner.try_next_id().map(Word::widen), expected);
        prop_assert_eq!(shared.try_next_id().map(Word::widen), expected);
        if call > 0 {
            prop_assert_eq!(resumed.try_next_id().map(Word::widen), expected);
        }
    }
    Ok(())
}

/// The ID that comes after `before` others: by the specification's walk where that is short, else down from the highest one.
fn id_after<S: Space>(capacity: u64, before: u64) -> u64 {
    let all_of_space = |highest: u64| u128::from((highest - S::SPACE.first_id()) / S::SPACE.step()) + 1 == capacity.into();
    match S::SPACE.highest() {
        Some(highest) if before >= 64 && all_of_space(highest) => highest - (capacity - before - 1) * S::SPACE.step(),
        // The guard band ends this space before its highest ID.
        _ if before >= 64 => S::SPACE.first_id() + before * S::SPACE.step(),
        _ => {
            let mut walk = Ids::new(S::SPACE, End::Exhaust { capacity });
            (0..before).for_each(|_| _ = walk.next_id());
            walk.next_id().unwrap_or_default()
        }
    }
}

fn before_left(capacity: u64, before: u64, calls: usize) -> u64 {
    (capacity - before).saturating_sub(calls as u64)
}

/// Values near every border of any width, and any value.
fn a_value() -> impl Strategy<Value = u64> {
    prop_oneof![(0u32..=64, -40i64..40).prop_map(|(bit, near)| ((1u128 << bit) as u64).wrapping_add_signed(near)), any::<u64>(),]
}

macro_rules! for_every_space {
    ($($space:ident)+) => {
        proptest! {
            #[test]
            fn wrapping_generators_hand_out_the_ids_of_the_specification(start in a_value(), calls in 1usize..100) {
                $(wrap_against_spec::<$space>(start, calls)?;)+
            }

            #[test]
            fn exhausting_generators_hand_out_the_ids_of_the_specification_and_then_refuse(before_end in 1u64..60, calls in 1usize..100) {
                $(exhaust_against_spec::<$space>(before_end, calls)?;)+
            }
        }

        #[test]
        fn every_space_begins_with_its_first_id() {
            $({
                let expected = $space::SPACE.first_id();
                assert_eq!(OwnerIds::<$space>::new().next_id().widen(), expected);
                assert_eq!(SharedIds::<$space>::new().next_id().widen(), expected);
                assert_eq!(OwnerIds::<$space, Exhaust>::new().try_next_id().map(Word::widen), Ok(expected));
                assert_eq!(SharedIds::<$space, Exhaust>::new().try_next_id().map(Word::widen), Ok(expected));
            })+
        }
    };
}

for_every_space! {
    OneBit OneId HoleInside HoleAboveRange HoleAtTop AllButOne EvenFromTheMiddle OddWithHole WideRange FullU32 FullU64 NonZeroU64 SmallInU64 OddU64
    KuduCallIds Http2ClientStreams Http2ServerStreams NonZeroU32Ids
}
