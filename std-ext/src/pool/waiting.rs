//! What a thread does that waits for an ID.

use std::time::Duration;

use jeton_core::pool::AllocError;

use crate::{
    blocking::{Instant, yield_now},
    wait::Waiters,
};

/// How often a waiter looks again at once, after giving its processor away, while other calls are in its way.
const YIELDS: u32 = 16;

/// How long it then rests between two looks: nobody wakes it for what those calls put where it has looked already.
const NAP: Duration = Duration::from_millis(1);

/// Presses, looks everywhere with `alloc`, and sleeps, until there is an ID or `deadline` has passed. Looks at least once.
pub(crate) fn look_and_sleep(
    waiters: &Waiters,
    press: impl Fn(),
    alloc: impl Fn() -> Result<u32, AllocError>,
    deadline: Option<Instant>,
) -> Result<u32, AllocError> {
    let mut yields = 0;
    let result = loop {
        // In this order (W1): a free that this look misses comes after the press, and its wake after the ticket.
        let ticket = waiters.ticket();
        press();
        let refused = match alloc() {
            Ok(id) => break Ok(id),
            Err(refused) => refused,
        };
        let now = Instant::now();
        if deadline.is_some_and(|deadline| deadline <= now) {
            break Err(refused);
        }
        match refused {
            AllocError::Exhausted => {
                yields = 0;
                waiters.sleep(ticket, deadline);
            }
            // Somebody is inside of a cache, maybe stopped there. What it leaves behind may be an ID, without a free (W2).
            AllocError::Contended if yields < YIELDS => {
                yields += 1;
                yield_now();
            }
            AllocError::Contended => {
                let nap = now + NAP;
                waiters.sleep(ticket, Some(deadline.map_or(nap, |deadline| deadline.min(nap))));
            }
        }
    };
    // Passed on, whether it was needed here or not (W3).
    waiters.wake_one();
    result
}
