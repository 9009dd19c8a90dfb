//! Properties of the wrappers, for any calls: a refused call changes nothing, and no handle is good twice.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::collections::HashSet;

use jeton_core::pool::{
    AllocError, BitPool, Checked, FreeError, Generational, Handle, IdRange, Pool, PoolUser, Retire, Wrap, bit_pool_words,
};
use jeton_models::spec::pool::{Choice, FreeIds};
use proptest::{collection::vec, prelude::*};

const N: usize = 40;
const BASE: u32 = 1000;
type Bits = BitPool<N, { bit_pool_words(N as u32) }, BASE>;

/// A pool that believes everybody: it keeps a stack, and what is freed twice lies there twice.
#[derive(Debug)]
struct Trusting(std::sync::Mutex<Vec<u32>>);

impl Trusting {
    fn new() -> Self {
        Self(std::sync::Mutex::new((BASE..BASE + N as u32).rev().collect()))
    }
}

impl IdRange for Trusting {
    const MAX_CAPACITY: u32 = N as u32;
    fn base(&self) -> u32 {
        BASE
    }
    fn capacity(&self) -> u32 {
        N as u32
    }
}

impl Pool for Trusting {
    fn alloc(&self) -> Result<u32, AllocError> {
        self.0.lock().expect("not poisoned").pop().ok_or(AllocError::Exhausted)
    }
    fn free(&self, id: u32) -> Result<(), FreeError> {
        self.0.lock().expect("not poisoned").push(id);
        Ok(())
    }
}

/// `Some`: free this offset from the base; `None`: allocate.
fn acts() -> impl Strategy<Value = Vec<Option<u32>>> {
    vec(prop_oneof![3 => Just(None), 3 => (0..N as u32).prop_map(Some), 1 => any::<u32>().prop_map(Some)], 0..200)
}

fn checked_answers_as_a_set(user: &mut impl PoolUser, acts: &[Option<u32>]) -> Result<(), TestCaseError> {
    let mut spec = FreeIds::new(Choice::Any, BASE, N as u32);
    for act in acts {
        match act {
            None => match user.alloc() {
                Ok(id) => prop_assert_eq!(spec.reserve(id), Ok(()), "an ID that somebody has"),
                Err(error) => prop_assert_eq!((error, spec.available()), (AllocError::Exhausted, 0)),
            },
            Some(offset) => {
                let id = BASE.wrapping_add(*offset);
                prop_assert_eq!(user.free(id), spec.free(id));
            }
        }
    }
    Ok(())
}

/// Frees any handle that there ever was, and forged ones.
fn generational_knows_its_handles<P: Pool, W: jeton_core::pool::GenerationPolicy, const BITS: u32>(
    pool: &Generational<P, N, W, BITS>,
    acts: &[Option<u32>],
) -> Result<(Vec<Handle>, usize), TestCaseError> {
    let mut seen: Vec<Handle> = Vec::new();
    let mut current: HashSet<Handle> = HashSet::new();
    for act in acts {
        match act {
            None => match pool.alloc() {
                Ok(handle) => {
                    prop_assert!(current.iter().all(|other| other.id() != handle.id()), "an ID that somebody has");
                    prop_assert_eq!(Handle::from_bits(handle.to_bits()), Some(handle));
                    current.insert(handle);
                    seen.push(handle);
                }
                Err(error) => {
                    prop_assert_eq!((error, current.len() + pool.retired() as usize), (AllocError::Exhausted, N));
                }
            },
            Some(choice) if !seen.is_empty() => {
                let handle = seen[*choice as usize % seen.len()];
                let expected = if current.remove(&handle) { Ok(()) } else { Err(FreeError::Stale(handle)) };
                prop_assert_eq!(pool.free(handle), expected);
            }
            Some(bits) => {
                if let Some(forged) = Handle::from_bits(u64::from(*bits) | 1 << 32) {
                    let outside = forged.id().wrapping_sub(BASE) >= N as u32;
                    let error = if outside { FreeError::OutOfRange(forged) } else { FreeError::Stale(forged) };
                    prop_assert_eq!(pool.free(forged), Err(error));
                }
            }
        }
        prop_assert!(seen.iter().all(|&handle| pool.is_current(handle) == current.contains(&handle)));
    }
    let live = current.len();
    Ok((seen, live))
}

proptest! {
    #[test]
    fn a_checked_pool_answers_as_a_set(acts in acts()) {
        let bits = Checked::<Bits, N>::new(Bits::new());
        checked_answers_as_a_set(&mut &bits, &acts)?;
        let trusting = Checked::<_, N>::new(Trusting::new());
        checked_answers_as_a_set(&mut &trusting, &acts)?;
        let again = Checked::<_, N>::new(Trusting::new());
        let mut user = again.user(again.pool()).expect("a user of this pool");
        checked_answers_as_a_set(&mut user, &acts)?;
    }

    #[test]
    fn a_handle_is_good_once(acts in acts()) {
        let (seen, _) = generational_knows_its_handles(&Generational::<_, N, Retire>::new(Bits::new()), &acts)?;
        prop_assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
        generational_knows_its_handles(&Generational::<_, N, Retire>::new(Trusting::new()), &acts)?;
    }

    /// With two generations an ID, in any order of calls.
    #[test]
    fn a_retired_id_never_comes_again(acts in acts()) {
        let pool = Generational::<_, N, Retire, 1>::new(Bits::new());
        let (seen, live) = generational_knows_its_handles(&pool, &acts)?;
        prop_assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len());
        for id in BASE..BASE + N as u32 {
            let count = seen.iter().filter(|handle| handle.id() == id).count();
            prop_assert!(count <= 2, "{} allocations of {}", count, id);
        }
        // All the others can still be had.
        let left = std::iter::from_fn(|| pool.alloc().ok()).count();
        prop_assert!(left + live + pool.retired() as usize >= N, "IDs are lost: {} {} {}", left, live, pool.retired());
    }
}

#[test]
fn generations_that_wrap_come_again_after_all_of_them() {
    let pool = Generational::<_, N, Wrap, 2>::new(Bits::new());
    let handles: Vec<Handle> = (0..9)
        .map(|_| {
            let handle = pool.alloc().expect("all are free");
            pool.free(handle).expect("just allocated");
            handle
        })
        .collect();
    assert!((0..4).all(|first| (first + 1..first + 4).all(|other| handles[first] != handles[other])));
    assert_eq!(handles[0..4], handles[4..8]);
    assert_eq!((handles[0], pool.retired()), (handles[8], 0));
}

#[test]
fn a_user_of_another_pool_is_handed_back() {
    let pool = Checked::<Bits, N>::new(Bits::new());
    let other = BitPool::<N, { bit_pool_words(N as u32) }, 0>::new();
    assert!(pool.user(&other).is_err_and(|user| user.base() == 0));
    let generations = Generational::<Bits, N>::new(Bits::new());
    assert!(generations.user(&other).is_err_and(|user| user.base() == 0));
    let mut user = generations.user(generations.pool()).expect("a user of this pool");
    let handle = user.alloc().expect("all are free");
    assert!(generations.is_current(handle));
    assert_eq!((user.free(handle), user.free(handle)), (Ok(()), Err(FreeError::Stale(handle))));
}

#[test]
fn room_that_does_not_suffice_is_refused_at_run_time() {
    assert!(Checked::<_, 39>::try_new(&Bits::new()).is_err());
    assert!(Checked::<_, 40>::try_new(&Bits::new()).is_ok());
    assert!(Generational::<_, 39, Retire>::try_new(&Bits::new()).is_err());
    assert!(Generational::<_, 40, Retire>::try_new(&Bits::new()).is_ok());
}
