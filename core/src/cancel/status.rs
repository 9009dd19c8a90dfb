//! What a state word says to others: status and reason.

use core::fmt;

/// Why something was canceled: a number, with names for two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Reason(pub(super) u8);

impl Reason {
    /// Somebody has asked for it.
    pub const REQUESTED: Self = Self(0);
    /// Its deadline has passed.
    pub const DEADLINE: Self = Self(1);
    /// The first number that has no meaning here.
    pub const FIRST_FREE: u8 = 16;

    /// A reason of the program's own, from [`FIRST_FREE`](Self::FIRST_FREE) up; the numbers below are taken as they are.
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// How a source stands. It leaves [`Active`](Self::Active) once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It may still be canceled or dismissed.
    Active,
    /// It is canceled.
    Canceled(Reason),
    /// It has been dismissed, and will never be canceled.
    Dismissed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::REQUESTED => f.write_str("requested"),
            Self::DEADLINE => f.write_str("deadline passed"),
            Self(number) => write!(f, "reason {number}"),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Active => f.write_str("active"),
            Self::Canceled(reason) => write!(f, "canceled: {reason}"),
            Self::Dismissed => f.write_str("dismissed"),
        }
    }
}
