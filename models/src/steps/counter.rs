//! The road to an ID for each of several threads, none after the last one.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_load_then_store;
pub mod s2_read_again;
pub mod s3_check_then_add;
pub mod s4_look_again;

/// Numbers from 0 up to a last one, as every step implements it.
pub trait Numbers: Send + Sync + 'static {
    /// All numbers below `end`.
    fn new(end: u32) -> Self;
    /// The next number, or `None` after the last.
    fn next(&self) -> Option<u32>;
    /// Names the words for the trace.
    fn name_words(&self);
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn counts_to_three<N: Numbers>() {
        let numbers = N::new(3);
        assert_eq!([(); 5].map(|()| numbers.next()), [Some(0), Some(1), Some(2), None, None]);
    }

    #[test]
    fn every_step_is_right_as_long_as_calls_come_one_after_another() {
        counts_to_three::<s1_load_then_store::Counter>();
        counts_to_three::<s2_read_again::Counter>();
        counts_to_three::<s3_check_then_add::Counter>();
        counts_to_three::<s4_look_again::Counter>();
    }
}
