//! Cancellation: a request to stop that is sent once and seen by all, with callbacks, wakers, deadlines, reasons and a hierarchy.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A request, a connection, a whole server is to stop, and everybody who works for it has to notice. The obvious solution is a flag and a
//! list of callbacks under a mutex: then the check that runs in every loop takes a lock, or the flag is read without it, and a callback that is
//! registered beside a cancel is lost. Other systems' reports tell of both; of callbacks that deadlock because a lock is held around
//! them; of waiters that sleep for ever because the sender is gone; of stack overflows in deep hierarchies; of children that are told before
//! their siblings are marked, and of one shared "never canceled" object on whose reference count all threads meet. Here the check is one
//! load. Whoever registers and whoever cancels do a read-modify-write of the same word, so one of them sees the other. No lock is held, nothing
//! is allocated, nothing recurses, and what is never canceled is never written.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | one thing to stop, in a `static` or on a stack | [`Source`] |
//! | things within things | a [`Tree`], each node of it a source |
//! | code that may be stopped | a [`Token`]: `Copy`, two words; it asks [`is_canceled`](Token::is_canceled) |
//! | code that must not be stopped | `Token::uncancelable()`, or the statics `UNCANCELABLE` and `CANCELED` |
//! | something to be done at once when it is canceled | [`Token::on_cancel`]: a function and a reference to its data |
//! | a task that waits | [`Token::canceled`] |
//!
//! Don't use it to hand over values (that is a channel), for something that may happen again (that is a gate), or to wait until all have
//! stopped: a cancel says "stop", not "has stopped".
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::cancel::{Reason, Refusal, Source, Status, Token};
//!
//! static SHUTDOWN: Source<8> = Source::new(); // zero bytes in .bss
//! static PUMP: Source<1> = Source::new(); // what has its own way to stop
//!
//! fn work(token: Token<'_>) -> u32 {
//!     (0..1000).take_while(|_| !token.is_canceled()).count() as u32
//! }
//!
//! let pump = SHUTDOWN.token().on_cancel(|pump| _ = pump.cancel(), &PUMP).expect("a free slot");
//! assert_eq!((work(SHUTDOWN.token()), work(Token::uncancelable())), (1000, 1000));
//! assert!(SHUTDOWN.cancel_with(Reason::new(17)));
//! assert_eq!((work(SHUTDOWN.token()), SHUTDOWN.status()), (0, Status::Canceled(Reason::new(17))));
//! assert!(PUMP.token().is_canceled());
//! drop(pump);
//! let refused = SHUTDOWN.token().on_cancel(|_| unreachable!(), &PUMP).expect_err("too late");
//! assert_eq!(refused.refusal, Refusal::Canceled(Reason::new(17)));
//! ```
//!
//! # 4. State
//!
//! One word a source, or a node; a deadline; a table of slots (its page is `util/slots.rs`). The word:
//!
//! | canceled | dismissed | visited | notifying | status | the word's reason, and its link |
//! |---|---|---|---|---|---|
//! | 0 | 0 | 0 | 0 | `Active` | none; the node's parent |
//! | 1 | 0 | 0 | 1 | `Canceled`, and its callbacks are not all done, or what is below is being marked | the cancel's; its root |
//! | 1 | 0 | 0 | 0 | `Canceled` | the cancel's; its root |
//! | 0 | 1 | 0 | 0 | `Dismissed` | none; the node's parent |
//! | 0 | 1 | 1 | 1 | `Dismissed`, and what is below is being marked | the cancel's; its root |
//! | 0 | 1 | 1 | 0 | `Dismissed`, and what is below is canceled | the cancel's; its root |
//!
//! Beside these: *has registrations* and *has children* (somebody has ever armed a slot, put a node below), *timed* (there is a deadline), and of a
//! node *in use* and *released* (its last user has gone; *notifying* keeps it from being freed). A free node's word is 0.
//!
//! ```text
//! word    link, 15 bits | reason, 8 bits | released | in use | timed | children | registrations | visited | notifying | dismissed | canceled
//!
//! cancel(b)     a                 mark b, then c (dismissed: visited), d, e           a and f stay active;
//!              / \                then call what waits at b, d and e                  g, below c, is canceled
//!             b   f               in the order of the nodes' numbers
//!           / | \
//!          c  d  e
//!          |
//!          g
//! ```
//!
//! # 5. Invariants
//!
//! * **K1** A word leaves *active* by one compare-and-swap, which also writes the reason. Whoever has done it, and nobody else, calls what waits there.
//! * **K2** A slot is armed before a read-modify-write of the word, after which its owner looks how it stands; a cancel looks at the slots after its
//!   own. So a callback is called or refused, never both and never neither; and a waker is taken, or its task sees the cancel.
//! * **K3** A word that is not active is not written by tokens, nor by a source's calls, except to set *has registrations* and *timed* by a call that
//!   has seen it active. So the two statics are never written.
//! * **K4** A [`Registration`] and a [`Canceled`] each own one registration in the table of the source that they borrow, until they are dropped,
//!   deregistered or detached. An ID owns nothing: it ends detached registrations only.
//! * **T1** A node's parent is fixed at its birth, and is freed after it: it counts its children as users.
//! * **T2** A node that is *notifying* is not freed: whoever comes second, its last user or the cancel that has marked it, frees it.
//! * **T3** A cancel marks a node only while the node's word names a parent that this cancel has marked and that is still *notifying*. By T1 and T2 the
//!   number means the same node as when that one was marked; so a node that was freed and used again meanwhile is marked only if it is below.
//! * **T4** A child's link is there before a read-modify-write of its parent's word, after which its maker looks whether that is marked; a cancel
//!   looks for children after its mark. So a child of a marked node is marked, by the cancel or at its birth.
//!
//! `unsafe` code here erases the type of a callback's data and gives it back, and tells the table who owns what (K4, T2).
//!
//! # 6. Orderings
//!
//! The rows of the slots, slots-1 to slots-20, are on the page of the table (`util/slots.rs`).
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | cancel-1 | `Token::status` and the like; a registration's look after cancel-2: load | Acquire | cancel-4, cancel-6, cancel-34 | what was done before the cancel, or by callbacks, is not visible | `who_sees_a_cancel_sees_what_came_before` |
//! | cancel-2 | `on_cancel`, first poll: fetch_or of *has registrations* | Release | cancel-4, cancel-34 | a callback that nobody calls and nobody refuses | `a_callback_is_called_once_or_refused` |
//! | cancel-3 | `cancel`, `dismiss`: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-4 | the same: compare-and-swap, success | AcqRel | cancel-1, cancel-2, cancel-22, cancel-23 | as cancel-1 and cancel-2 | `a_callback_is_called_once_or_refused` |
//! | cancel-5 | the same: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | cancel-6 | end of `Source::cancel`: fetch_and | Release | cancel-1 | as cancel-1, of callbacks | `who_sees_the_end_of_the_callbacks_sees_what_they_did` |
//! | cancel-7 | `set_deadline`: load | Relaxed | nothing: saves a write to what has ended | – | nothing weaker |
//! | cancel-8 | `set_deadline`: store | Relaxed | nothing: cancel-9 publishes it | – | nothing weaker |
//! | cancel-9 | `set_deadline`: fetch_or of *timed* | Release | cancel-10 | a deadline that nobody has set is over | `a_deadline_is_polled_as_it_was_set` |
//! | cancel-10 | `poll_deadline`: load | Acquire | cancel-9 | as cancel-9 | `a_deadline_is_polled_as_it_was_set` |
//! | cancel-11 | `poll_deadline`: load of the deadline | Relaxed | nothing: after cancel-10 | – | nothing weaker |
//! | cancel-12 | claiming a node: load of the one freed last | Relaxed | nothing: a hint | – | nothing weaker |
//! | cancel-13 | the same: load of the hint | Relaxed | nothing: a hint | – | nothing weaker |
//! | cancel-14 | the same: store of the hint | Relaxed | nothing: a hint | – | nothing weaker |
//! | cancel-15 | the same: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-16 | the same: compare-and-swap, success | Acquire | cancel-31 | the node's new user works with what its last one left | `a_freed_node_is_handed_on` |
//! | cancel-17 | the same: compare-and-swap, failure | Relaxed | nothing: the next one is tried | – | nothing weaker |
//! | cancel-18 | the same: store of the parent | Relaxed | nothing: who has claimed the node alone writes it | – | nothing weaker |
//! | cancel-19 | the same: store of the users | Relaxed | nothing, as cancel-18 | – | nothing weaker |
//! | cancel-20 | `child`: fetch_add of the parent's users | Relaxed | nothing: its handle is one of them; cancel-22 publishes the rest | – | nothing weaker |
//! | cancel-21 | `child`: store of the link | Relaxed | nothing: cancel-22 publishes it | – | nothing weaker |
//! | cancel-22 | `child`: fetch_or of *has children* | Release | cancel-4, cancel-34 | a child of a canceled node that is not canceled | `a_child_born_beside_a_cancel_is_canceled` |
//! | cancel-23 | `child`, after that: load of the parent's word | Acquire | cancel-4, cancel-34 | a child that is canceled before what the cancel tells of | `a_child_born_beside_a_cancel_is_canceled` |
//! | cancel-24 | `child` of a marked node: compare-and-swap, success | Relaxed | nothing: after cancel-23, and nobody else has the node yet | – | nothing weaker |
//! | cancel-25 | the same, failure | Relaxed | nothing: it is marked already | – | nothing weaker |
//! | cancel-26 | a node loses a user: fetch_add | AcqRel | itself in other threads | who frees it drops what another one has taken | `the_last_child_frees_what_the_handle_left` |
//! | cancel-27 | the last user: fetch_add of *released* | AcqRel | cancel-28 | as cancel-16, of what the cancel, or the user, did with the node | `a_node_that_is_freed_beside_its_cancel_is_handed_on` |
//! | cancel-28 | end of a cancel with a node: fetch_add that takes *notifying* away | AcqRel | cancel-27 | as cancel-27 | `a_node_that_is_freed_beside_its_cancel_is_handed_on` |
//! | cancel-29 | marking: load of the users | Relaxed | nothing: after cancel-4 or cancel-34 | – | nothing weaker |
//! | cancel-30 | freeing a node: load of the parent | Relaxed | nothing: cancel-26 and cancel-27 hand it over | – | nothing weaker |
//! | cancel-31 | freeing a node: store | Release | cancel-16 | as cancel-16 | `a_freed_node_is_handed_on` |
//! | cancel-32 | freeing a node: store of the one freed last | Relaxed | nothing: a hint | – | nothing weaker |
//! | cancel-33 | marking: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-34 | marking: compare-and-swap, success | AcqRel | cancel-1, cancel-2, cancel-22, cancel-23 | as cancel-1 and cancel-2, below | `a_callback_below_is_called_once_or_refused` |
//! | cancel-35 | marking: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | cancel-36 | marking and notifying: load of a word | Relaxed | nothing: what is looked for there, this call has written | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `status`, `is_canceled`, … | wait-free: one load | cancel-1 |
//! | `on_cancel`, first poll | lock-free: a slot may be taken before it; then wait-free | cancel-2, or just before cancel-4 if the cancel has found the slot first; `Full`: the last look at the slots |
//! | `deregister`, dropping a registration or a future, a poll again | wait-free | the slot's own (slots-3, slots-5) |
//! | `Source::cancel`, `dismiss` | lock-free: it looks again only if somebody has registered or set a deadline; then callbacks | cancel-4 |
//! | `set_deadline` | wait-free | cancel-9; if there was a deadline before, cancel-8 |
//! | `poll_deadline` | wait-free, then as `cancel` | cancel-4 if it cancels, also by a deadline that is put off meanwhile; else cancel-10 |
//! | `Tree::root`, `Node::child` | wait-free: at most a look at each node | cancel-16; of a child, cancel-22; of `NoNode` none: each node was taken when it was looked at |
//! | `Node::cancel` | lock-free; it marks in one pass over the nodes, and one more for each child on a way down that has a lower number than its parent | cancel-4, each node below: cancel-34 |
//! | dropping a node | wait-free, but for the nodes above that it frees | cancel-26 |
//!
//! Wait-free means: where a read-modify-write of 32 bits is one instruction; [progress by target](crate::docs::progress_by_target) says where not.
//! A callback that does not return keeps the one who cancels, and nobody else. When `cancel` says `false`, another call has canceled
//! or dismissed it, and may still be calling callbacks: [`Token::is_notifying`] tells of this node's own ones, not of those below it.
//!
//! # 8. Cost
//!
#![doc = include_str!("../docs/cost/cancel.md")]
//!
//! `core_` is a [`Source`], `tree_` a [`Tree`], `std_` the std extension; `before_` and `after_` are MongoDB's.
//!
//! A check is one load, a token from a source nothing, a registration two read-modify-writes (the slot's bit, the word) and its end two (the slot's
//! word, its bit). A poll again by the same task is two loads. A cancel without registrations is one compare-and-swap; each callback costs it
//! two more. On a 64-bit target a slot takes 32 bytes and a node with one slot 56.
//!
//! A root or a child is claimed at a look if a node was freed before that may serve, else after looks at the nodes from the last one claimed on: at
//! all of them at worst, so that filling the last places of a tree is quadratic. A child gets a higher number than its parent if one is
//! free. The cancel of a node with children then loads the word of every node with a higher number once. Each child on one way down that
//! has a lower number than its parent may cost it one more round over all nodes; so a deep hierarchy that was built while the tree was
//! nearly full, each child with a lower number than its parent, is quadratic at worst.
//!
//! What is left above the shortest that can be thought of: a callback is taken with one read-modify-write and its run ended with another, since
//! its owner may deregister or detach it meanwhile, and is told that it is being called; and each number that comes out of a handle or a
//! word is compared with the number of slots or nodes.
//!
//! # 9. What surprised us
//!
//! * A load is enough to check, but not to register: "armed a slot, then looked whether it is canceled" and "canceled, then looked at the slots" can
//!   both miss the other, whatever the orderings short of a full fence. Two read-modify-writes of one word cannot.
//! * A list of children is not needed to cancel a tree. Parents alone do, if a pass over the arena meets parents before children; and a
//!   node without a list is detached in one step.
//! * Where only one bit of the old value is wanted, or none, `fetch_or` is one instruction on x86, and otherwise a loop. So a registration
//!   does its `fetch_or` for the order alone, and then looks; and a bit that is known to be clear is added.
//! * A bit that keeps a marked node from being freed does away with the tags that its number would need otherwise.
//! * Two words hold a token: a pointer to the word and the number of slots. A thin pointer from the word to the slots behind it is undefined
//!   behavior, since a reference to the word does not reach them.
//!
//! # 10. References
//!
//! * MongoDB, `src/mongo/util/cancellation.h`: sources, tokens, dismissal; the ticket SERVER-53623.
//! * ISO C++20, `std::stop_token`; P2175, *Composable cancellation for sender-based async operations*: callbacks that deregister.
//! * M. Herlihy, N. Shavit, *The Art of Multiprocessor Programming*, chapter 7: why two flags need more than acquire and release.
//! * Rust reference, `core::task::Waker`: `will_wake`, and that `wake`, `clone` and `drop` are anybody's code.
// rustfmt does not look into macros; here it finds the files.
#[cfg(any())]
mod entry;
#[cfg(any())]
mod inner;
#[cfg(any())]
mod source;
#[cfg(any())]
mod token;
#[cfg(any())]
mod tree;
#[cfg(any())]
mod word;

crate::sync::cfg_has_rmw_32! {
    mod entry;
    mod inner;
    mod source;
    mod token;
    mod tree;
    mod word;

    pub use source::Source;
    pub use token::{Canceled, Deregistered, Registration, RegistrationId, Token};
    pub use tree::{Node, Tree};
}

#[cfg(not(jeton_loom))]
crate::sync::cfg_has_rmw_32! {
    pub use source::{CANCELED, UNCANCELABLE};
}

mod error;
mod status;

pub use error::{NoNode, Refusal, Refused, WaitError};
pub use status::{Reason, Status};
