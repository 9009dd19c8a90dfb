//! Magazines: IDs pass between users 64 at a time, and between a user and its own array one at a time.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A server hands out and takes back millions of small numbers a second, on all cores. Whatever makes them meet on one word for each ID
//! costs an atomic operation at best and a cache line's journey at worst; a list of free IDs that is threaded through memory costs a
//! cache miss an ID once it is mixed up. A cache for each user costs an array access, and has three faults of its own: IDs that lie in
//! somebody's cache are missing elsewhere; a user at the edge of its cache goes to the shared pool each time; and "none left" is easily
//! said while IDs are on their way. Locked slabs answer the first and leave the others. This page answers all three without a lock.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | a few users, each in one thread at a time, and some IDs more than are needed at once | [`MagazinePool`] with a [`Cache`] for each |
//! | the last ID must be found, whoever has it; or several threads share a user | [`StealableCache`] |
//! | up to 2048 IDs in a `static` | storage [`Blocks`] |
//! | more, or a number that is known when the program runs | storage [`Slices`] |
//!
//! Don't use it where the smallest free ID is wanted, or memory is dear (four bytes an ID here, and cache lines for each 2048; a bit in the bitmap pool), or double
//! frees must be found (wrap it in `Checked`: at most 7 instructions).
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::pool::{AllocError, Blocks, StealableCache, Users};
//! static TAGS: StealableCache<Blocks<2>, Users<2>> = StealableCache::new(); // 128 tags; zero bytes in .bss
//!
//! let (net, disk) = (TAGS.user(0).expect("of two"), TAGS.user(1).expect("of two"));
//! let mut tags = [0; 128];
//! assert_eq!(net.alloc_into(&mut tags), 128); // all of them, wherever they are
//! assert_eq!(disk.alloc(), Err(AllocError::Exhausted)); // and that is certain
//! disk.free(tags[5])?;
//! assert_eq!(net.alloc(), Ok(tags[5])); // stolen
//! # Ok::<(), jeton_core::pool::FreeError>(())
//! ```
//!
//! # 4. State
//!
//! Inside, an ID is its index: its distance from the base. Every index below `next` is at one place:
//!
//! ```text
//!  base                                                    base + next           base + capacity
//!   | taken, or in a magazine, a full block or a spill bit      | fresh                 |
//!
//!  user or cache:  [ colder 64 | warmer 64 ]  --flush half-->  block, full   --take-->  another user
//!                        ^ count                block, empty  <--put--
//!  a free that finds no such place:  its spill bit  --drain-->  whoever finds nothing else in the depot
//! ```
//!
//! | block | bit in `used` | bit in `full` | who may touch its memory |
//! |---|---|---|---|
//! | empty | 0 | 0 | nobody |
//! | claimed, to be written or after it was taken | 1 | 0 | who set `used`, or cleared `full` |
//! | full | 1 | 1 | nobody |
//!
//! | word | holds |
//! |---|---|
//! | `guard` | 0: the next `free` looks closer; otherwise at most `next` |
//! | `pressed` | 1: somebody wants to be told of that |
//! | `next` | the number of IDs minted; it only grows, 64 at a time, and less near the end |
//! | depot, several words, by the group that a call begins in | bits 0–11: calls that move blocks now (at most 4095 at once); bits 12–31: how many have, modulo 2^20 |
//! | `spilled` | spilled IDs: counted before the bit is set, uncounted after it is cleared |
//! | a user | bits 0–7: how many IDs it has, or 255: somebody is inside and keeps the word; the rest counts changes, modulo 2^56 (2^24 where pointers have 32 bits) |
//! | a bit above others (a group's `spilled`, both words of its summary) | 0: nothing below; 1: perhaps something |
//!
//! # 5. Invariants
//!
//! * **I1** A count is at most `CACHE`, and the IDs below it are its owner's: pushes stop at `CACHE`, fills bring at most `BLOCK` to 0.
//! * **I2** A block's memory is touched only by the one whose read-modify-write changed its bit: 0 to 1 in `used`, to write it; or 1 to 0
//!   in `full`, to read it. That one clears `used` after reading. The bit is all there is to claim, so an old value of the word only makes
//!   a claim fail: no tag, no ABA. 64 IDs in hand go with each claim, so for a pool's IDs there are always blocks enough.
//! * **I3** `next` is changed by compare-and-swap only, never over the capacity, and only by who has found no full block and nothing
//!   spilled. So a new ID is at most the highest one ever handed out, plus 64 for each user, plus 1.
//! * **I4** If something below a bit above is set and nobody is under way there, that bit is set. Who sets below, looks above afterwards
//!   and sets that too; who clears above, looks below afterwards. They meet on the word below (of a group) or above (of a block).
//! * **I5** An ID is taken back only if its index is less than `next`. `guard` is never more than that: it is raised from one value of
//!   `next` to a later one. From 0 only `closer_look` raises it, and that tells whoever has `pressed`.
//! * **I6** `spilled` is never less than the number of spill bits.
//! * **I7** `Exhausted`: there is an instant in the call at which nothing is fresh, full or spilled, nobody moves a block, and all users
//!   are empty with nobody inside. All is seen so once, and then the users' words and the depot's are seen unchanged.
//! * **I8** A user's memory is touched only by who is inside: whose `swap` found a word that does not say 255. Until that one puts a word
//!   back, others only put in the same 255 again, so its plain store loses nothing.
//!
//! # 6. Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | magazine-1 | bits above, and a full block: fetch_or | AcqRel | magazine-2, magazine-11; magazine-3 | Release: the taker reads the block before it was written; a cleared mark hides what was set below (I4). Acquire: the summary's bit seems set while it is being cleared, and hides the block | `a_block_is_read_after_it_was_written`, `a_full_block_is_found_whose_group_was_just_emptied` |
//! | magazine-2 | `settle`: fetch_and | AcqRel | magazine-1; magazine-4 | Acquire: a mark is cleared over what was set before, and no search finds that (I4). Release: as magazine-4, where there is more than one group | `a_spilled_id_is_found_whose_block_was_just_drained`, `a_block_of_a_group_that_comes_and_goes_during_the_look_is_not_missed` |
//! | magazine-3 | `settle`: fetch_or of 0 to a group | Release | magazine-1 | as magazine-1, Acquire | `a_full_block_is_found_whose_group_was_just_emptied` |
//! | magazine-4 | search: load of a group or summary | Acquire | magazine-11, magazine-2 | who misses the bit misses its claimer too, and says `Exhausted` (I7) | `a_block_that_comes_and_goes_during_the_look_is_not_missed` |
//! | magazine-5 | search: load of a group under a summary | Acquire | magazine-11 | as magazine-4 | `a_block_of_a_group_that_comes_and_goes_during_the_look_is_not_missed` |
//! | magazine-6 | a call begins to move a block: fetch_add | Relaxed | nothing: magazine-11 publishes it | – | nothing weaker |
//! | magazine-7 | a call has moved a block: fetch_add | Release | magazine-8 | the depot seems quiet, and what came into it is not seen: a wrong `Exhausted` | `ids_on_their_way_beside_a_busy_user_are_not_missed` |
//! | magazine-8 | before a look: load of the depot's word | Acquire | magazine-7 | as magazine-7 | `ids_on_their_way_beside_a_busy_user_are_not_missed` |
//! | magazine-9 | after a look: load of the depot's word | Relaxed | nothing: the loads before acquire | – | nothing weaker |
//! | magazine-10 | `put`, claim of an empty block: fetch_or | Acquire | magazine-12 | the block is written while it is still read | `a_block_is_written_after_it_was_read` |
//! | magazine-11 | `take`, claim of a full block: fetch_and | AcqRel | magazine-1; magazine-4 and magazine-5 | Acquire: the block is read before it was written. Release: as magazine-4 | `a_block_is_written_after_it_was_read`, `a_block_that_comes_and_goes_during_the_look_is_not_missed` |
//! | magazine-12 | `take`, the block is read: fetch_and | Release | magazine-10 | as magazine-10 | `a_block_is_written_after_it_was_read` |
//! | magazine-13 | `put`: load of a group, to choose a block | Relaxed | nothing: the claim decides | – | nothing weaker |
//! | magazine-14 | `take`: load of a group, to choose a block | Relaxed | nothing: the claim decides | – | nothing weaker |
//! | magazine-15 | `free`: load of the guard | Relaxed | nothing: too low a guard sends to `closer_look` (I5) | – | nothing weaker |
//! | magazine-16 | `mint`: load of `next` | Relaxed | nothing: the exchange decides | – | nothing weaker |
//! | magazine-17 | `mint`: compare-and-swap, success | Release | magazine-20 | who finds all minted does not see the minter inside of its user, and says `Exhausted` | argued: a user that has minted two has entered before, and loom runs read-modify-writes in one order for everybody; the hardware need not |
//! | magazine-18 | `mint`: compare-and-swap, failure | Relaxed | nothing: tries again | – | nothing weaker |
//! | magazine-19 | guard raised: compare-and-swap, success | Acquire | magazine-21 | a 0 is taken back and nobody told | `whoever_presses_is_told_of_an_id_that_is_spilled` |
//! | magazine-20 | nothing fresh: load of `next` | Acquire | magazine-17 | as magazine-17 | argued: as magazine-17 |
//! | magazine-21 | `press`: swap of the guard | Release | magazine-19 | as magazine-19 | `whoever_presses_is_told_of_an_id_that_is_spilled` |
//! | magazine-22 | guard raised: compare-and-swap, failure | Relaxed | nothing: others have changed it | – | nothing weaker |
//! | magazine-23 | `closer_look`: load of `next` | Relaxed | nothing: the caller has its ID from after that mint | – | nothing weaker |
//! | magazine-24 | `closer_look`: load of the guard | Relaxed | nothing: the exchange decides | – | nothing weaker |
//! | magazine-25 | nothing spilled: load of the count | Acquire | magazine-29 | as magazine-4, with who has drained the last | `spilled_ids_that_come_and_go_during_the_look_are_not_missed` |
//! | magazine-26 | `settle`: load of the spill bits | Relaxed | nothing: magazine-2 comes before | – | nothing weaker |
//! | magazine-27 | spilled: fetch_add of the count | Acquire | magazine-35 | a free beside a busy user does not notice who pressed before it | `whoever_presses_is_told_of_an_id_that_is_spilled` |
//! | magazine-28 | spilled: fetch_or of the ID's bit | Release | magazine-30 and magazine-32 | the next one who gets the ID works beside the last one | `ids_on_their_way_beside_a_busy_user_are_not_missed` |
//! | magazine-29 | uncounted: fetch_add of the count | Release | magazine-25 | as magazine-25 | `spilled_ids_that_come_and_go_during_the_look_are_not_missed` |
//! | magazine-30 | drain of a word of bits: swap | Acquire | magazine-28 | as magazine-28 | `ids_on_their_way_beside_a_busy_user_are_not_missed` |
//! | magazine-31 | drain: load of the count | Relaxed | nothing: a hint | – | nothing weaker |
//! | magazine-32 | one spilled ID: fetch_and | Acquire | magazine-28 | as magazine-28 | `beside_a_busy_user_a_spilled_id_is_taken_after_it_was_given_back` |
//! | magazine-33 | one spilled ID: load of the count | Relaxed | nothing: a hint | – | nothing weaker |
//! | magazine-34 | one spilled ID: load of the bits | Relaxed | nothing: the claim decides | – | nothing weaker |
//! | magazine-35 | `press`: fetch_add of 0 to the count | Release | magazine-27 | as magazine-27 | `whoever_presses_is_told_of_an_id_that_is_spilled` |
//! | magazine-36 | `minted`: load | Relaxed | nothing: an estimate | – | nothing weaker |
//! | magazine-37 | `available`: load of a group | Relaxed | nothing: an estimate | – | nothing weaker |
//! | magazine-38 | `available`: load of the count | Relaxed | nothing: an estimate | – | nothing weaker |
//! | magazine-39 | `for_each_available`: load of spill bits | Relaxed | nothing: not shared | – | nothing weaker |
//! | magazine-40 | a user is entered: swap | Acquire | magazine-41, magazine-43 | two are in the same memory without an order | `ids_on_their_way_beside_a_busy_user_are_not_missed` |
//! | magazine-41 | left: store of the word | Release | magazine-40, magazine-43 | as magazine-40 | `ids_on_their_way_beside_a_busy_user_are_not_missed` |
//! | magazine-42 | worth entering: load of the word | Relaxed | nothing: a hint | – | nothing weaker |
//! | magazine-43 | seen empty: fetch_or of 0 | AcqRel | magazine-41; magazine-40 | Acquire: where an ID went from an empty user is not seen: a wrong `Exhausted`. Release: a free after the look does not notice who pressed before it | `a_block_that_comes_and_goes_during_the_look_is_not_missed`, `whoever_presses_finds_an_id_or_is_told` |
//! | magazine-44 | seen unchanged: load of a word | Relaxed | nothing: the loads before acquire | – | nothing weaker |
//! | magazine-45 | `available`: load of a word | Relaxed | nothing: an estimate | – | nothing weaker |
//! | magazine-46 | a cache's count: load | Relaxed | nothing: the owner's | – | nothing weaker |
//! | magazine-47 | a cache's count: store | Relaxed | nothing: the owner's | – | nothing weaker |
//! | magazine-48 | `for_each_available`: load of a group | Relaxed | nothing: not shared | – | nothing weaker |
//! | magazine-49 | search for spilled IDs: load of a group | Relaxed | nothing: the claim decides | – | nothing weaker |
//! | magazine-50 | `closer_look`: swap of `pressed` | Relaxed | nothing: one of several takes it | – | nothing weaker |
//! | magazine-51 | `press`: swap of `pressed` | Relaxed | nothing: handed on by magazine-21 | – | nothing weaker |
//! | magazine-52 | `closer_look`: load of `pressed` | Relaxed | nothing: magazine-19 comes before | – | nothing weaker |
//! | magazine-53 | is the group marked: load of the summary | Relaxed | nothing: magazine-1 comes before | – | nothing weaker |
//! | magazine-54 | is the group empty: load | Relaxed | nothing: a hint | – | nothing weaker |
//! | magazine-55 | is there a full block near: load | Relaxed | nothing: the claim decides | – | nothing weaker |
//! | magazine-56 | a cache's first group: fetch_add | Relaxed | nothing: spreads the caches | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `Cache::alloc`, `free`, with an ID or room in the cache | wait-free on every target | the call (its IDs count as taken) |
//! | `Cache::alloc` else | lock-free: a claim is tried again only if another one has just succeeded | magazine-11, magazine-30 or magazine-17; a refusal: magazine-9 |
//! | `Cache::free` else, `flush`, drop | lock-free | magazine-1 for each block, magazine-28 for each spilled ID |
//! | `User::alloc`, `free`, alone inside | wait-free where `swap` is | magazine-41 |
//! | `User::alloc` else | lock-free; it waits for nobody inside of a user, and looks everywhere at most five times | magazine-41, magazine-32, magazine-11 or magazine-17; `Exhausted`: the moment between the two looks; `Contended`: says nothing |
//! | `User::free` beside somebody | wait-free where `fetch_or` and `fetch_add` are | magazine-28 |
//! | `press` | wait-free where `swap` is | magazine-21 |
//! | `available`, `minted` | wait-free in the size of the pool | none: estimates while others use it |
//!
//! A user that is stopped inside takes its up to 128 IDs with it until it goes on: others then get `Contended`, never `Exhausted`.
//! A search reads a summary word for each 65,536 IDs, and a look at everything each user's and each depot word besides.
//!
//! Where words count, exactness ends where they wrap between two looks of a call: exactly a multiple of 2^20 moves of blocks at one depot
//! word, or 2^56 changes of users together (2^24 where pointers have 32 bits). At most 2047 calls may move blocks at the same time.
//! On ARMv6-M every read-modify-write masks interrupts for its length; the owner's path has none.
//!
//! # 8. Cost
//!
#![doc = include_str!("../../docs/cost/pool.md")]
//!
//! The rounds are those of [the pools' page](super); `nothing_…` is what a round costs with a pool that does nothing.
//!
//! # 9. What surprised us
//!
//! * A look that finds every place empty, one after another, proves nothing: a block goes behind it while another one is taken ahead.
//!   Counting the moves in one word does.
//! * The last 64 IDs must not go to one user: if it is preempted inside, seven others find nothing for a whole time slice. With the rest
//!   shared out (`mint`), fewer than 1 % of their calls fail (`eight_threads_that_hold_one_of_64_ids_each_are_never_told_that_all_are_taken`).
//! * A counter that is read again before it is written costs less than one kept in a register: the compiler then counts in memory.
//! * Storing indexes instead of IDs makes `free` an instruction cheaper and `alloc` one dearer. `free` was the one that needed it.
//! * A user's count, its version and "somebody is inside" fit into one word, which whoever enters takes away by a swap: one comparison then
//!   finds out "busy" and "empty" together. A lock bit beside a count costs as many instructions and more time, since each
//!   call then waits for the stores of the one before.
//! * Which users meet decides the price with several threads, not how many instructions they run: so each has a group of its own, on
//!   cache lines of its own. Where its group is full it goes on in steps: the next group is a neighbour's, and the two would meet from then on.
//! * loom gives a plain store no place among other threads' read-modify-writes of that word: it let two of them enter a user on the
//!   same value. In models that store is a swap.
//!
//! # 10. References
//!
//! * J. Bonwick, J. Adams, "Magazines and Vmem", USENIX 2001: magazines, the depot, and why a cache needs two.
//! * Open vSwitch, `lib/id-fpool.c`: slabs a user, with locks and stealing; the figures of [the paper](crate#papers).
//! * DPDK, `rte_mempool`: half of a cache moves, the colder one.
//! * L. Lamport, "Concurrent reading and writing", 1977: versions before and after.
mod cache;
mod cell;
mod depot;
mod magazines;
mod parts;
mod pool;
mod spill;
mod stealable;
mod storage;
mod user;
mod word;

pub use cache::Cache;
pub use cell::UserCell;
pub use magazines::CACHE;
pub use pool::MagazinePool;
pub use stealable::{StealableCache, UserStorage, Users};
pub use storage::{BLOCK, Block, Blocks, Group, Slices, Spill, Storage};
pub use user::User;
