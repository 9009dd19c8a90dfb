//! What a generator does at the end of its space, and the trait that both generators share.

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Wrap {}
    impl Sealed for super::Exhaust {}
}

/// What a generator does after its last ID: [`Wrap`] or [`Exhaust`].
pub trait Policy: sealed::Sealed {
    /// Whether the lowest ID comes after the highest.
    const WRAPS: bool;
}

/// After the highest ID comes the lowest again.
///
/// For protocols whose IDs may come again once the earlier use is over. An ID comes again only after the counter has gone round
/// the whole space; whoever keeps IDs for longer than that must look before using one (that is what the in-flight table is for).
#[derive(Clone, Copy, Debug)]
pub enum Wrap {}

/// After the highest ID comes [`Exhausted`]: no ID ever comes twice.
///
/// For protocols in which an ID may never come again. IDs ascend from the first one up. `Exhausted` is for ever, with one exception: a
/// lease that ends may give back IDs that nobody has had.
#[derive(Clone, Copy, Debug)]
pub enum Exhaust {}

impl Policy for Wrap {
    const WRAPS: bool = true;
}

impl Policy for Exhaust {
    const WRAPS: bool = false;
}

/// Every ID of the space has been handed out, or is held by a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl core::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("every ID of the space has been handed out")
    }
}

impl core::error::Error for Exhausted {}

/// The value, handed back, is no ID that the generator would ever hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInSpace<T>(pub T);

impl<T: core::fmt::Display> core::fmt::Display for NotInSpace<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} is not an ID of this space", self.0)
    }
}

impl<T: core::fmt::Debug + core::fmt::Display> core::error::Error for NotInSpace<T> {}

/// A source of IDs: what code that does not care which generator it gets is generic over.
///
/// ```
/// use jeton_core::counter::{Exhaust, Http2ClientStreams, IdGenerator, KuduCallIds, OwnerIds, SharedIds};
///
/// fn three<G: IdGenerator>(ids: &G) -> Result<[G::Id; 3], G::Error> {
///     Ok([ids.try_next_id()?, ids.try_next_id()?, ids.try_next_id()?])
/// }
///
/// assert_eq!(three(&OwnerIds::<Http2ClientStreams, Exhaust>::new()), Ok([1, 3, 5]));
/// assert_eq!(three(&SharedIds::<KuduCallIds>::new()), Ok([0, 1, 2]));
/// ```
pub trait IdGenerator {
    /// The IDs.
    type Id;
    /// Why there is none: [`Exhausted`], or [`Infallible`](core::convert::Infallible) where that cannot be.
    type Error: core::error::Error;

    /// The next ID.
    ///
    /// # Errors
    /// [`Exhausted`] from a generator with the policy [`Exhaust`]; a generator that wraps never fails.
    fn try_next_id(&self) -> Result<Self::Id, Self::Error>;
}
