//! Properties of calls in flight, for any calls: against a list of all calls that there ever were.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::mem;

use jeton_core::pool::{CallId, CompleteError, Full, InFlight, NotTimedOut, Ticket, bit_pool_words};
use proptest::{collection::vec, prelude::*};

const N: usize = 5;
const WORDS: usize = bit_pool_words(N as u32);

#[derive(Clone, Copy, Debug)]
enum Act {
    Begin,
    Complete(usize),
    Drop(usize),
    Finish(usize),
    TimeOut(usize),
    Forget(usize),
    Leak(usize),
}

/// How a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Waits,
    Answered,
    TimedOut,
    Ended,
    EndedAnswered,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let any = any::<usize>;
    let act = prop_oneof![
        6 => Just(Act::Begin),
        4 => any().prop_map(Act::Complete),
        2 => any().prop_map(Act::Drop),
        2 => any().prop_map(Act::Finish),
        2 => any().prop_map(Act::TimeOut),
        2 => any().prop_map(Act::Forget),
        1 => any().prop_map(Act::Leak),
    ];
    vec(act, 0..150)
}

proptest! {
    #[test]
    fn every_call_is_answered_once_and_no_slot_has_two(acts in acts()) {
        let table = InFlight::<N, WORDS>::new();
        let mut calls: Vec<(CallId, Stand)> = Vec::new();
        let mut tickets: Vec<(usize, Ticket<'_, N, WORDS>)> = Vec::new();
        let mut leaked = 0;
        for act in acts {
            let taken = |stand| matches!(stand, Stand::Waits | Stand::Answered | Stand::TimedOut);
            let occupied = calls.iter().filter(|call| taken(call.1)).count();
            match act {
                Act::Begin => match table.begin() {
                    Ok(ticket) => {
                        prop_assert!(occupied < N);
                        prop_assert!(calls.iter().all(|call| call.0 != ticket.id()), "an ID comes again");
                        prop_assert!(tickets.iter().all(|(_, other)| other.slot() != ticket.slot()), "two calls in a slot");
                        calls.push((ticket.id(), Stand::Waits));
                        tickets.push((calls.len() - 1, ticket));
                    }
                    Err(Full) => prop_assert_eq!(occupied, N, "full at exactly {} calls", N),
                },
                Act::Complete(choice) if !calls.is_empty() => {
                    let at = choice % calls.len();
                    let (id, stand) = calls[at];
                    let slot_of = |id: CallId| id.to_bits() & 7;
                    let newest = calls.iter().rposition(|call| slot_of(call.0) == slot_of(id)) == Some(at);
                    let (expected, next) = match stand {
                        Stand::Waits => (Ok(()), Stand::Answered),
                        Stand::TimedOut => (Err(CompleteError::Stale(id)), Stand::EndedAnswered),
                        Stand::Answered => (Err(CompleteError::Duplicate(id)), stand),
                        Stand::EndedAnswered if newest => (Err(CompleteError::Duplicate(id)), stand),
                        Stand::Ended | Stand::EndedAnswered => (Err(CompleteError::Stale(id)), stand),
                    };
                    prop_assert_eq!(table.complete(id), expected);
                    calls[at].1 = next;
                }
                Act::Drop(choice) | Act::Finish(choice) | Act::TimeOut(choice) | Act::Leak(choice) if !tickets.is_empty() => {
                    let (at, ticket) = tickets.swap_remove(choice % tickets.len());
                    let stand = calls[at].1;
                    prop_assert_eq!((ticket.id(), ticket.is_answered()), (calls[at].0, stand == Stand::Answered));
                    let ended = if stand == Stand::Answered { Stand::EndedAnswered } else { Stand::Ended };
                    match act {
                        Act::Drop(_) => {
                            drop(ticket);
                            calls[at].1 = ended;
                        }
                        Act::Finish(_) => {
                            prop_assert_eq!(ticket.finish(), stand == Stand::Answered);
                            calls[at].1 = ended;
                        }
                        // Its slot is stranded, and that is all.
                        Act::Leak(_) => {
                            mem::forget(ticket);
                            leaked += 1;
                        }
                        _ => match ticket.time_out() {
                            Ok(_) => {
                                prop_assert_eq!(stand, Stand::Waits);
                                calls[at].1 = Stand::TimedOut;
                            }
                            Err(ticket) => {
                                prop_assert_eq!(stand, Stand::Answered);
                                tickets.push((at, ticket));
                            }
                        },
                    }
                }
                Act::Forget(choice) if !calls.is_empty() => {
                    let at = choice % calls.len();
                    let (id, stand) = calls[at];
                    let expected = if stand == Stand::TimedOut { Ok(()) } else { Err(NotTimedOut(id)) };
                    prop_assert_eq!(table.forget(id), expected);
                    if expected.is_ok() {
                        calls[at].1 = Stand::Ended;
                    }
                }
                _ => {}
            }
            prop_assert_eq!(table.outstanding() as usize, calls.iter().filter(|call| taken(call.1)).count());
        }
        drop(tickets);
        let timed_out = calls.iter().filter(|call| call.1 == Stand::TimedOut).count();
        prop_assert_eq!(table.outstanding() as usize, leaked + timed_out);
    }

    /// Numbers that come from outside, of which the table knows nothing.
    #[test]
    fn a_number_that_was_never_sent_is_unknown(bits in 1u32..) {
        let table = InFlight::<N, WORDS>::new();
        let id = CallId::from_bits(bits).expect("not 0");
        prop_assert_eq!(table.complete(id), Err(CompleteError::Unknown(id)));
        prop_assert_eq!(table.forget(id), Err(NotTimedOut(id)));
        let ticket = table.begin().expect("a slot is free");
        if ticket.id() != id {
            prop_assert!(table.complete(id).is_err());
            prop_assert!(!ticket.is_answered());
        }
        prop_assert_eq!(table.outstanding(), 1);
    }
}

/// Five slots take three bits; with five bits there are four generations, of which 0 means "none yet".
#[test]
fn generations_of_a_slot_come_again_after_all_of_them_and_none_before() {
    let table = InFlight::<N, WORDS, 5>::new();
    let ids: Vec<u32> = (0..7).map(|_| table.begin().expect("a slot is free").id().to_bits()).collect();
    assert_eq!(ids, [8, 16, 24, 8, 16, 24, 8]);
    // The answer to an earlier call of the slot is not one to this call.
    let ticket = table.begin().expect("a slot is free");
    let id = |bits| CallId::from_bits(bits).expect("not 0");
    assert_eq!(ticket.id(), id(16));
    assert_eq!(table.complete(id(8)), Err(CompleteError::Stale(id(8))));
    assert_eq!(table.complete(id(24)), Err(CompleteError::Unknown(id(24))));
    assert_eq!((ticket.is_answered(), table.complete(id(16))), (false, Ok(())));
}
