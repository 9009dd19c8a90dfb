//! `cargo rivals counter`: IDs, and statistics that many threads add to.
mod ids;
mod statistics;

use crate::contender::{Contender, Structure};

/// Our counters and their peers.
pub const STRUCTURE: Structure = Structure { name: "counter", groups: &[ids::GROUP, statistics::GROUP], seconds: 60 };

pub(crate) fn equal(what: &str, found: u64, expected: u64) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
}

fn boxed<C: Contender + Default + 'static>() -> Box<dyn Contender> {
    Box::new(C::default())
}
