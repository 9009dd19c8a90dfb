//! What a slot holds: a callback, a waker or a child.

use std::{
    marker::PhantomData,
    mem::{ManuallyDrop, MaybeUninit, align_of, size_of},
    ptr::NonNull,
    task::Waker,
};

use super::node::Node;

/// Two words, in which a closure lies, or the pointer to one in a box.
type Place = [MaybeUninit<*const ()>; 2];

/// A closure that is called once, erased.
pub(super) struct Callback {
    place: Place,
    ends: &'static Ends,
}

/// How the closure in a place ends: both take it out.
struct Ends {
    call: unsafe fn(*mut Place),
    drop: unsafe fn(*mut Place),
}

/// The ends of an `F`.
struct EndsOf<F>(PhantomData<F>);

impl<F: FnOnce()> EndsOf<F> {
    const IN_PLACE: Ends = Ends {
        // SAFETY: by the caller an `F` lies there, which is taken out.
        call: |place| unsafe { place.cast::<F>().read() }(),
        // SAFETY: as above.
        drop: |place| drop(unsafe { place.cast::<F>().read() }),
    };
    const IN_BOX: Ends = Ends {
        // SAFETY: by the caller the pointer to an `F` in a box lies there, which is taken out.
        call: |place| unsafe { place.cast::<Box<F>>().read() }(),
        // SAFETY: as above.
        drop: |place| drop(unsafe { place.cast::<Box<F>>().read() }),
    };
}

impl Callback {
    /// Whether a closure of this type lies in the place itself.
    const fn fits<F>() -> bool {
        size_of::<F>() <= size_of::<Place>() && align_of::<F>() <= align_of::<Place>()
    }

    #[inline]
    pub(super) fn new<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        let mut place = [MaybeUninit::uninit(); 2];
        if const { Self::fits::<F>() } {
            // SAFETY: it fits (N8), and nothing else is there.
            unsafe { (&raw mut place).cast::<F>().write(closure) };
            Self { place, ends: &EndsOf::<F>::IN_PLACE }
        } else {
            // SAFETY: a box is one word (N8).
            unsafe { (&raw mut place).cast::<Box<F>>().write(Box::new(closure)) };
            Self { place, ends: &EndsOf::<F>::IN_BOX }
        }
    }

    /// Calls the closure that lies there, which is gone then.
    ///
    /// # Safety
    /// There is a callback, which nobody else uses.
    #[inline]
    pub(super) unsafe fn run_in_place(this: *mut Self) {
        // SAFETY: by the caller; `new` has put there what the ends take out (N8).
        unsafe { ((*this).ends.call)(&raw mut (*this).place) }
    }

    /// Whether dropping a callback of this type does something.
    #[inline]
    pub(super) const fn is_dropped<F>() -> bool {
        std::mem::needs_drop::<F>() || !Self::fits::<F>()
    }

    #[cfg(test)]
    fn run(self) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: it is not dropped again.
        unsafe { Self::run_in_place(&raw mut *this) }
    }

    /// The closure again.
    ///
    /// # Safety
    /// It was made of an `F`.
    pub(super) unsafe fn into_closure<F>(self) -> F {
        let mut this = ManuallyDrop::new(self);
        let place = &raw mut this.place;
        if const { Self::fits::<F>() } {
            // SAFETY: by the caller and N8; it is not dropped again.
            unsafe { place.cast::<F>().read() }
        } else {
            // SAFETY: as above.
            *unsafe { place.cast::<Box<F>>().read() }
        }
    }
}

impl Drop for Callback {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `new` has put there what the ends take out (N8), and nothing else has taken it.
        unsafe { (self.ends.drop)(&raw mut self.place) }
    }
}

/// What a slot for registrations holds; which of them, the slot's word says.
#[repr(C)]
pub(super) union Payload {
    pub(super) callback: ManuallyDrop<Callback>,
    pub(super) waker: ManuallyDrop<Waker>,
}

/// What a slot for children holds.
pub(super) type Child = Option<NonNull<Node>>;

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn a_closure_is_called_or_dropped_or_handed_back_whatever_its_size() {
        fn all_three<const N: usize>(fits: bool) {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let closure = |extra: [u64; N]| {
                let seen = seen.clone();
                move || seen.lock().unwrap().push(extra.iter().sum::<u64>())
            };
            fn made<F: FnOnce() + Send + 'static>(f: F, fits: bool) -> Callback {
                assert_eq!(Callback::fits::<F>(), fits);
                Callback::new(f)
            }
            fn again<F: FnOnce() + Send + 'static>(f: F) -> F {
                // SAFETY: it is made of an `F`.
                unsafe { Callback::new(f).into_closure::<F>() }
            }
            made(closure([1; N]), fits).run();
            drop(made(closure([2; N]), fits));
            again(closure([3; N]))();
            assert_eq!(*seen.lock().unwrap(), [N as u64, 3 * N as u64]);
            assert_eq!(Arc::strong_count(&seen), 1);
        }
        all_three::<0>(true);
        all_three::<1>(size_of::<usize>() == 8);
        all_three::<5>(false);
    }

    #[test]
    fn a_closure_of_great_alignment_is_boxed() {
        #[repr(align(64))]
        struct Wide(u8);
        let wide = Wide(3);
        let address = Arc::new(Mutex::new(1));
        let seen = address.clone();
        Callback::new(move || {
            let wide = wide;
            *seen.lock().unwrap() = (&raw const wide).addr() % 64 + usize::from(wide.0);
        })
        .run();
        assert_eq!(*address.lock().unwrap(), 3);
    }
}
