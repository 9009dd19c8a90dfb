//! The specification of ID generators: the values of the space in order, the reserved ones left out.
//!
//! It walks value by value and knows nothing of counts, masks or jumps.

use jeton_core::counter::IdSpace;

use crate::linearizability::Spec;

/// What comes after the highest ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The lowest one again.
    Wrap,
    /// Nothing, once this many IDs have been handed out since the first one of the space, or after the highest.
    Exhaust {
        /// The number of IDs.
        capacity: u64,
    },
}

/// A generator as a list of values and a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids {
    space: IdSpace,
    end: End,
    /// The value to look at next. `None`: past the highest value of the width.
    next: Option<u64>,
    handed_out: u64,
}

impl Ids {
    /// A generator that begins with the first ID of `space`, whose values have `width` bits.
    pub fn new(space: IdSpace, end: End) -> Self {
        Self { space, end, next: Some(space.first_id()), handed_out: 0 }
    }

    /// A generator that begins with `id`; `None` if it is no ID, or one that `Exhaust` never reaches.
    ///
    /// `Exhaust` counts what it would have handed out before `id`, so `id` should lie near the first one or `before` be given.
    pub fn starting_at(space: IdSpace, end: End, id: u64, before: u64) -> Option<Self> {
        let reached = match end {
            End::Wrap => true,
            End::Exhaust { capacity } => id >= space.first_id() && before < capacity,
        };
        (space.contains(id) && reached).then_some(Self { space, end, next: Some(id), handed_out: before })
    }

    /// The next ID, or `None` where the generator is exhausted.
    pub fn next_id(&mut self) -> Option<u64> {
        if let End::Exhaust { capacity } = self.end
            && self.handed_out == capacity
        {
            return None;
        }
        loop {
            let value = match (self.next, self.end) {
                (Some(value), _) => value,
                (None, End::Wrap) => self.space.lowest()?,
                (None, End::Exhaust { .. }) => return None,
            };
            let highest = self.space.highest()?;
            self.next = if value >= highest { None } else { Some(value + 1) };
            if self.space.contains(value) {
                self.handed_out += 1;
                return Some(value);
            }
        }
    }
}

/// A call for the next ID. Its answer is the ID, or `None` where the generator is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextId;

impl Spec for Ids {
    type Call = NextId;
    type Answer = Option<u64>;

    fn accepts(&mut self, _: &NextId, answer: &Option<u64>) -> bool {
        self.next_id() == *answer
    }
}
