//! Roads to an algorithm, step by step, wrong versions included.
//!
//! Each step differs from the one before by one idea. Its first lines say what is new, what is still broken, and which checkers find
//! that; `cargo models` fails if one of those does not. `cargo models --show s1_no_tag` prints the interleaving that breaks a step.
//!
//! | step | broken | found by |
//! |---|---|---|
//! | [`append::s1_read_to_the_tail`] | a record is read before it is written | loom, rmw, shuttle |
//! | [`append::s2_give_back`] | a record that fits is refused | loom, rmw, shuttle |
//! | [`append::s3_relaxed_commit`] | a header publishes nothing | loom, rmw |
//! | [`append::s4_commit_word`] | nothing | |
//! | [`bit_pool::s1_sweep`] | an ID is freed behind the look, and another taken ahead of it | lin |
//! | [`bit_pool::s2_count_first`] | the ID of a free that has not ended is taken, and the count still has both | lin |
//! | [`bit_pool::s3_count_frees`] | nothing | |
//! | [`bit_pool::s4_marks`] | an ID freed between a look and its mark is hidden | loom, rmw, shuttle |
//! | [`bit_pool::s5_look_again`] | nothing | |
//! | [`cancel::s1_two_words`] | a registration and a cancel miss each other | loom |
//! | [`cancel::s2_one_word`] | an old handle takes out the slot's next registration | loom, rmw, shuttle |
//! | [`cancel::s3_generation`] | nothing | |
//! | [`cancel::s4_one_phase`] | a callback finds another child active | loom, rmw, shuttle |
//! | [`cancel::s5_look_then_link`] | a child born beside a cancel stays active | loom, rmw, shuttle |
//! | [`cancel::s6_link_then_meet`] | nothing | |
//! | [`counter::s1_load_then_store`] | two threads read the same count | loom, rmw, shuttle, lin |
//! | [`counter::s2_read_again`] | the number is read a second time | loom, rmw, shuttle, lin |
//! | [`counter::s3_check_then_add`] | a number past the last | loom, rmw, shuttle, lin |
//! | [`counter::s4_look_again`] | nothing | |
//! | [`free_list::s1_no_tag`] | the same top is not the same stack | loom, rmw, shuttle, lin |
//! | [`free_list::s2_store_instead_of_cas`] | a push undoes what others did meanwhile | loom, rmw, shuttle, lin |
//! | [`free_list::s3_relaxed_push`] | a push publishes nothing | loom, rmw |
//! | [`free_list::s4_relaxed_pop`] | a pop acquires nothing | loom, rmw |
//! | [`free_list::s5_tagged`] | nothing | |
//! | [`gate::s1_two_words`] | a waiter and a transition miss each other | loom |
//! | [`gate::s2_load_then_store`] | a transition undoes a waiter's bit | loom, rmw, shuttle |
//! | [`gate::s3_taken_bit`] | a transition to another state takes the bit of a waiter away | loom, rmw, shuttle |
//! | [`gate::s4_sticky_bit`] | a change and back is no change | loom, rmw, shuttle |
//! | [`gate::s5_epoch`] | nothing | |
//! | [`gate_std::s1_kept_interest`] | somebody is looked for who has gone | loom, rmw, shuttle |
//! | [`gate_std::s2_cleared_too_widely`] | a transition to another state takes the interest of a waiter away | loom, rmw, shuttle |
//! | [`gate_std::s3_unpublished`] | who sleeps is not looked for | loom, rmw, shuttle |
//! | [`gate_std::s4_wake_first`] | who is woken finds nothing new, and sleeps again | loom, rmw, shuttle |
//! | [`gate_std::s5_freed_while_taken`] | a slot has two owners | loom, rmw, shuttle |
//! | [`gate_std::s6_no_second_look`] | a task sleeps beside the state that it waits for | loom, rmw, shuttle |
//! | [`gate_std::s7_all_rules`] | nothing | |
//! | [`segmented_log::s1_count_only`] | a segment is counted after it is freed | loom, rmw, shuttle |
//! | [`segmented_log::s2_count_from_zero`] | a segment is freed under a user that has come late | loom, rmw, shuttle |
//! | [`segmented_log::s3_guard_and_count`] | nothing | |
//! | [`segmented_log::s4_look_then_register`] | a record comes between the look and the sleep | loom, rmw, shuttle |
//! | [`segmented_log::s5_look_again`] | two stores pass two loads | loom |
//! | [`segmented_log::s6_fences`] | nothing | |
//!
//! "lin" is a history that no order of its calls explains ([`linearizability`](crate::linearizability)); loom, rmw and shuttle are the
//! ways of [`explore`](mod@crate::explore). That shuttle does not find the relaxed steps is no accident: it knows no orderings.
//!
//! # Orderings of the free list
//!
//! Only the reads that a pop goes on with acquire, and only the compare-and-swap of a push releases: see
//! [`free_list::s5_tagged`]. `cargo weaken free_list` shows that these three are needed.
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | free-list-1 | `alloc`: load of the top | Acquire | free-list-7 | the payload, or the link to the index below, is read before it is written | `free_list_takes_and_gives_with_two_threads` |
//! | free-list-2 | `alloc`: load of the link | Relaxed | nothing: the tag refuses the swap if it is old | – | nothing weaker |
//! | free-list-3 | `alloc`: compare-and-swap, success | Relaxed | nothing: it succeeds on the value that was acquired before | – | nothing weaker |
//! | free-list-4 | `alloc`: compare-and-swap, failure | Acquire | free-list-7 | as free-list-1, for a pop that goes on with what it has found | `free_list_takes_and_gives_with_two_threads` |
//! | free-list-5 | `free`: load of the top | Relaxed | nothing: its index is written to the link and not followed | – | nothing weaker |
//! | free-list-6 | `free`: store of the link | Relaxed | published by free-list-7 | – | nothing weaker |
//! | free-list-7 | `free`: compare-and-swap, success | Release | free-list-1, free-list-4 | as free-list-1 | `free_list_takes_and_gives_with_two_threads` |
//! | free-list-8 | `free`: compare-and-swap, failure | Relaxed | nothing, as free-list-5 | – | nothing weaker |
pub mod append;
pub mod bit_pool;
pub mod cancel;
pub mod counter;
pub mod free_list;
pub mod gate;
pub mod gate_std;
pub mod segmented_log;
