//! What tests of the std extension's gate share: its own files, and a table of states.
#![allow(missing_docs, dead_code, unused_imports, reason = "the library's sources, and each file of tests uses a part")]

#[path = "../../../std-ext/src"]
pub mod std_ext {
    pub mod gate;
}

use std_ext::gate::States;

/// Four states, all edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Zero,
    One,
    Two,
    Three,
}

impl Mode {
    pub const ALL: [Self; 4] = [Self::Zero, Self::One, Self::Two, Self::Three];
}

impl States for Mode {
    const FIRST: u8 = 0;
    const OPEN: u8 = 0;
    const EDGES: [u16; 16] = [0b1111, 0b1111, 0b1111, 0b1111, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const ABORT: [u8; 16] = [0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

    fn number(self) -> u8 {
        self as u8
    }

    fn from_number(number: u8) -> Self {
        Self::ALL[usize::from(number)]
    }
}
