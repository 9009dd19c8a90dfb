//! The CPUs that this process may use, and the time that a thread has had of one.

use std::{io, time::Duration};

use rustix::{
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
    time::{ClockId, clock_gettime},
};

/// The CPUs on which this process may run.
///
/// # Errors
/// The system's.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Keeps the current thread on `cpu`.
///
/// # Errors
/// The system's, if this process may not use that CPU.
pub fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

/// How long the current thread has run, without the time in which others had its CPU.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_sleeping_thread_has_no_time() {
        let (wall, cpu) = (Instant::now(), thread_time());
        std::thread::sleep(Duration::from_millis(20));
        assert!(thread_time() - cpu < wall.elapsed() / 2);
    }

    #[test]
    fn a_pinned_thread_may_use_one_cpu_only() -> io::Result<()> {
        let first = allowed()?[0];
        std::thread::spawn(move || {
            pin(first)?;
            assert_eq!(allowed()?, [first]);
            Ok(())
        })
        .join()
        .expect("the thread does not panic")
    }
}
