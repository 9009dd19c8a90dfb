//! Cancellation of MongoDB: sources, tokens, and the state that they count.
//!
//! ```text
//! Source -> Holder -> State <- Token          a source counts the holder, holder and token count the state
//!              |        |
//!   last one gone:      +- Init | Canceled | Dismissed
//!   dismisses it        +- Promise, an allocation of its own: whether it is waited for, resolved; mutex { list of callbacks }
//! ```
//!
//! What is kept of the original:
//! * Whoever moves the state from *Init*, and nobody else, runs the callbacks: the newest one first, on its own thread. Whoever comes second does
//!   not wait for them.
//! * A dismissal runs them too, with the news that there will be no cancel.
//! * A child is a callback on its parent, which keeps the child's **state** alive. It cannot be taken back, so a child that is gone stays in
//!   its parent's list until the parent is canceled or dismissed.
//! * A cancel of a parent is a call within a call for each level below: a deep hierarchy overflows the stack.
//!
//! What is not: the future of each registration, which could be waited for and handed on. A registration is a callback in a list of the promise, two
//! allocations, and costs less than it did there.
mod promise;
mod source;
mod state;
mod token;

pub use promise::Outcome;
pub use source::Source;
pub use token::Token;

#[cfg(test)]
mod tests;
