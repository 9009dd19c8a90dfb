//! Who waits, and for what wakes: counted for the whole process, so this is the only test in it.
use std::time::Duration;

use jeton_benches::scenario::queue::{faults, threads};

#[test]
fn threads_wake_for_what_they_wait_for_only() {
    assert_eq!(faults::herd_of_ours(8, 3), Some(0.0));
    assert!(faults::herd_of_original(8, 3).is_some_and(|switches| switches >= 1.0));
    for wait in threads::WAITS {
        let used = threads::idle(wait, 2, Duration::from_millis(200)).expect("the wait is known, and lasts");
        match wait {
            "sleep" | "timed" => assert!(used.switches > 2.0, "{wait} {used:?}"),
            _ => assert_eq!(used.switches, 0.0, "{wait} {used:?}"),
        }
    }
    assert!(threads::idle("other", 1, Duration::ZERO).is_none());
}
