//! `cargo rivals append`: the document of 20 fields into one buffer, and records of 16 bytes into one log.
mod documents;
mod logs;

use crate::contender::Structure;

/// Our buffers and logs and their peers.
pub const STRUCTURE: Structure = Structure { name: "append", groups: &[documents::GROUP, logs::GROUP], seconds: 120 };
