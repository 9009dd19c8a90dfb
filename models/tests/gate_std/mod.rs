//! What tests of the std extension's gate share: its own files, and a table of states.
#![allow(missing_docs, dead_code, unused_imports, reason = "the library's sources, and each file of tests uses a part")]

#[path = "../../../std-ext/src"]
pub mod std_ext {
    pub mod gate;
}

pub mod system;

jeton_core::gate::states! {
    /// Four states, and all edges but those to themselves.
    pub enum Mode: open Zero {
        Zero -> [One, Two, Three], abort One;
        One -> [Zero, Two, Three], abort Zero;
        Two -> [Zero, One, Three], abort Three;
        Three -> [Zero, One, Two], abort Two;
    }
}
