//! The programs that every step has to stand.
use super::Log;
use crate::explore::{Arc, note, thread};

/// In a thread of its own.
fn beside<L: Log, R: Send + 'static>(log: &Arc<L>, work: impl FnOnce(&L) -> R + Send + 'static) -> impl FnOnce() -> R {
    let log = log.clone();
    let other = thread::spawn(move || work(&log));
    move || other.join().expect("a thread of the model panicked")
}

/// The values from the first record on.
fn read_all<L: Log>(log: &L) -> Vec<u32> {
    let (mut at, mut values) = (0, Vec::new());
    while let Some((value, next)) = log.read(at) {
        values.push(value);
        // A span that is not written yet leads nowhere.
        if next == at {
            break;
        }
        at = next;
    }
    note(&format!("read {values:?}"));
    values
}

/// Two append, and a reader finds whole records only.
pub fn read_whole<L: Log>() {
    let log = Arc::new(L::new(4));
    log.name_words();
    let other = beside(&log, |log| log.append(2, 7));
    let reader = beside(&log, |log| read_all(log));
    assert!(log.append(2, 8), "there is room for both");
    let values = reader();
    assert!(values.iter().all(|value| [7, 8].contains(value)), "read before it was written: {values:?}");
    assert!(other(), "there is room for both");
    let mut values = read_all(&*log);
    values.sort_unstable();
    assert_eq!(values, [7, 8]);
}

/// A record that does not fit is refused, and one that fits is not.
pub fn shorter_fits<L: Log>() {
    let log = Arc::new(L::new(3));
    log.name_words();
    let other = beside(&log, |log| log.append(4, 7));
    assert!(log.append(2, 8), "there is room for it");
    assert!(!other(), "there never was room for it");
    assert_eq!(read_all(&*log), [8]);
}
