//! The queue of Tarantool: tubes, and the state machine that says whether they may be used.
//!
//! ```text
//! Instance (writable or not) --waits--> Machine: INIT -> STARTUP -> RUNNING -> ENDING -> WAITING -> STARTUP ...
//!                                          | check: a load, a compare
//!                                        Tube: mutex { ready, taken by ID }; put, take, ack
//! ```
//!
//! What is kept of the original:
//! * The watcher waits for a **level**: it asks whether the instance is writable now. A flip that is over when it looks was never there.
//! * It is one of three kinds ([`Watch`]): it sleeps for a millisecond between two looks, or waits for at most a millisecond each time, or blocks.
//! * An operation checks the state once, before it waits: one that is blocked in `take` when the state changes stays for its whole timeout.
//! * A change of the instance wakes all who wait for one, whatever they wait for.
//!
//! What is not: drivers of tubes, sessions, and the time that STARTUP waits for replication.
mod instance;
mod machine;
mod tube;

pub use instance::{Instance, Wanted, Watch};
pub use machine::{Machine, State};
pub use tube::{Refused, Task, Tube};

#[cfg(test)]
mod tests;
