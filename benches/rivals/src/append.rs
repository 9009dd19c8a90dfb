//! `cargo rivals append`: the document of 20 fields into one buffer, and records of 16 bytes into one log, which is read afterwards or meanwhile.
mod documents;
mod logs;
mod streams;

use crate::contender::Structure;

/// Our buffers and logs and their peers.
pub const STRUCTURE: Structure =
    Structure { name: "append", groups: &[documents::GROUP, logs::GROUP, streams::GROUP], seconds: 120 };
