//! Call IDs (page to be written).
mod owner;
mod policy;
mod sequence;
mod shared;
mod space;
mod word;

pub use owner::OwnerIds;
pub use policy::{Exhaust, Exhausted, IdGenerator, NotInSpace, Policy, Wrap};
pub use sequence::GUARD_BAND;
pub use shared::SharedIds;
pub use space::{Contradiction, Http2ClientStreams, Http2ServerStreams, IdSpace, KuduCallIds, NonZeroU32Ids, Space};
pub use word::{SharedWord, Word};
