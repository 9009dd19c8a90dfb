//! One window: a contender works for a millisecond, and the window counts only if nothing disturbed it.
//!
//! The threads are pinned, get ready, meet, and start at an agreed instant. They work until an agreed instant, not for an agreed
//! number of operations: so they overlap from start to end also if one of them gets on faster.

use std::{
    io,
    ops::Range,
    sync::{Barrier, OnceLock},
    thread,
    time::{Duration, Instant},
};

use crate::{contender::Contender, cpu};

/// How long a window is: shorter than a scheduler's time slice, so that there are windows without a switch on a busy machine too.
pub const LENGTH: Duration = Duration::from_millis(1);

/// How much of the wall time a thread must have had its CPU.
const LEAST_CPU: f64 = 0.97;

/// How far the starts may lie apart, and which part of the window that may be: a short round ends before one.
const MOST_APART: Duration = Duration::from_micros(50);
const MOST_APART_BY_WALL: u32 = 20;

/// Neither of the two counts if it is less: reading the clocks takes so long.
const CLOCKS: Duration = Duration::from_micros(3);

/// From the meeting to the start: time for the thread that slept to wake up.
const LEAD: Duration = Duration::from_micros(100);

/// Operations between two looks at the clock take about this long: a look is then a few per mille of it.
const CHUNK_NANOSECONDS: f64 = 10_000.0;
/// So many of them are a window.
const CHUNKS: u32 = 100;

/// What one thread did in a window.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// When it started.
    pub start: Instant,
    /// How long it took by the clock.
    pub wall: Duration,
    /// How long the thread had its CPU.
    pub cpu: Duration,
    /// Operations in that time.
    pub operations: u64,
    /// Operations before, to warm up.
    pub warm_up: u64,
}

impl Span {
    /// Of a thread that did nothing.
    fn nothing() -> Self {
        Self { start: Instant::now(), wall: Duration::ZERO, cpu: Duration::ZERO, operations: 0, warm_up: 0 }
    }
}

/// Nanoseconds per operation in one undisturbed window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// As each thread sees it: the threads' CPU time by all operations.
    pub per_thread: f64,
    /// As the system sees it: the same by the number of threads.
    pub system: f64,
}

/// Why a window does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbed {
    /// A thread was without its CPU for too long: others had it, or the thread slept.
    WithoutCpu,
    /// The threads started too far apart.
    Apart,
}

/// The figure of a window.
///
/// # Errors
/// [`Disturbed`]: then there is no figure, rather than a wrong one.
pub fn figure(spans: &[Span]) -> Result<Figure, Disturbed> {
    let lost = |span: &Span| span.wall.saturating_sub(span.cpu) > span.wall.mul_f64(1.0 - LEAST_CPU).max(CLOCKS);
    if spans.iter().any(|span| span.operations == 0 || lost(span)) {
        return Err(Disturbed::WithoutCpu);
    }
    let starts = || spans.iter().map(|span| span.start);
    let (Some(first), Some(last)) = (starts().min(), starts().max()) else { return Err(Disturbed::WithoutCpu) };
    let shortest = spans.iter().map(|span| span.wall).min().unwrap_or_default();
    if last - first > MOST_APART.min(CLOCKS.max(shortest / MOST_APART_BY_WALL)) {
        return Err(Disturbed::Apart);
    }
    let cpu: Duration = spans.iter().map(|span| span.cpu).sum();
    let operations: u64 = spans.iter().map(|span| span.operations).sum();
    let per_thread = cpu.as_secs_f64() * 1e9 / operations as f64;
    Ok(Figure { per_thread, system: per_thread / spans.len() as f64 })
}

/// How many operations to run between two looks at the clock, given what one takes.
pub fn chunk(figure: Figure) -> u32 {
    (CHUNK_NANOSECONDS / figure.per_thread).clamp(16.0, 1e6) as u32
}

/// All operations of all threads, those to warm up as well.
pub fn all_operations(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.operations + span.warm_up).sum()
}

/// Lets a thread for each of `cpus`, pinned to it, work for `length`.
///
/// # Errors
/// The system's, if a thread cannot be pinned.
pub fn measure(contender: &dyn Contender, cpus: &[usize], chunk: u32, length: Duration) -> io::Result<Vec<Span>> {
    let (meeting, start, over) = (Barrier::new(cpus.len()), OnceLock::new(), OnceLock::new());
    let (meeting, start, over) = (&meeting, &start, &over);
    thread::scope(|scope| {
        let worker = |(number, &cpu): (usize, &usize)| {
            scope.spawn(move || {
                let mut span = None;
                let pace = Pace { threads: cpus.len(), meeting, start, over, chunk, length, met: false, span: &mut span };
                cpu::pin(cpu)?;
                contender.work(number, pace);
                // A contender that could not get ready did nothing, and its check says why.
                Ok(span.unwrap_or_else(Span::nothing))
            })
        };
        let workers: Vec<_> = cpus.iter().enumerate().map(worker).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// When a thread works, and for how long.
#[derive(Debug)]
pub struct Pace<'a> {
    threads: usize,
    meeting: &'a Barrier,
    start: &'a OnceLock<Instant>,
    over: &'a OnceLock<()>,
    chunk: u32,
    length: Duration,
    met: bool,
    span: &'a mut Option<Span>,
}

impl Pace<'_> {
    /// Runs `operations(n)`, which does `n` operations, until the window ends.
    pub fn run(mut self, mut operations: impl FnMut(u32)) {
        operations(self.chunk);
        let end = self.meet_and_wait() + self.length;
        let mut chunks = 0;
        let (wall_before, cpu_before) = (Instant::now(), cpu::thread_time());
        loop {
            operations(self.chunk);
            chunks += 1;
            if Instant::now() >= end {
                break;
            }
        }
        let cpu = cpu::thread_time() - cpu_before;
        let wall = wall_before.elapsed();
        let chunk = u64::from(self.chunk);
        *self.span = Some(Span { start: wall_before, wall, cpu, operations: chunks * chunk, warm_up: chunk });
    }

    /// The figure of a window that the contender has measured itself, since it sleeps for most of it: so many nanoseconds, or whatever else
    /// its group counts, for so many operations.
    pub fn measured(self, amount: u64, operations: u64) {
        let amount = Duration::from_nanos(amount);
        *self.span = Some(Span { start: Instant::now(), wall: amount, cpu: amount, operations, warm_up: 0 });
    }

    /// How many threads work in this window.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// How many operations a window takes, by those that were measured before.
    pub fn operations(&self) -> u32 {
        self.chunk.saturating_mul(CHUNKS)
    }

    /// Goes through these steps of a round, of so many operations each: `some(steps)` does the next ones. The window ends when a thread
    /// has done all its steps, or when other windows end. Nothing warms up: whoever needs it does so before. Returns the first step that
    /// was not done.
    ///
    /// # Errors
    /// What `some` returns: then the round ends for all threads.
    pub fn go_through<E>(
        mut self,
        steps: Range<u32>,
        operations_a_step: u32,
        mut some: impl FnMut(Range<u32>) -> Result<(), E>,
    ) -> Result<u32, E> {
        let part = self.chunk.div_ceil(operations_a_step);
        let end = self.meet_and_wait() + self.length;
        let mut done = steps.start;
        let (wall_before, cpu_before) = (Instant::now(), cpu::thread_time());
        let result = loop {
            let until = steps.end.min(done.saturating_add(part));
            let result = some(done..until);
            if result.is_err() || until == steps.end {
                self.over.get_or_init(|| ());
            }
            done = until;
            if result.is_err() || self.over.get().is_some() || Instant::now() >= end {
                break result;
            }
        };
        let cpu = cpu::thread_time() - cpu_before;
        let wall = wall_before.elapsed();
        let operations = u64::from(done - steps.start) * u64::from(operations_a_step);
        *self.span = Some(Span { start: wall_before, wall, cpu, operations, warm_up: 0 });
        result.map(|()| done)
    }

    fn meet_and_wait(&mut self) -> Instant {
        let start = self.meet();
        while Instant::now() < start {
            std::hint::spin_loop();
        }
        start
    }

    /// Waits, asleep, for the other threads; the first one to go on sets the start.
    fn meet(&mut self) -> Instant {
        self.met = true;
        self.meeting.wait();
        *self.start.get_or_init(|| Instant::now() + LEAD)
    }
}

/// A thread that fails before its window does not keep the other one waiting.
impl Drop for Pace<'_> {
    fn drop(&mut self) {
        if !self.met {
            self.meet();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn span(start: Instant, cpu: Duration, operations: u64) -> Span {
        Span { start, wall: MS, cpu, operations, warm_up: 10 }
    }

    #[test]
    fn a_figure_per_thread_and_one_of_the_system() {
        let now = Instant::now();
        assert_eq!(figure(&[span(now, MS, 100_000)]), Ok(Figure { per_thread: 10.0, system: 10.0 }));
        let two = [span(now, MS, 150_000), span(now + Duration::from_micros(50), MS, 50_000)];
        assert_eq!(figure(&two), Ok(Figure { per_thread: 10.0, system: 5.0 }));
        assert_eq!(all_operations(&two), 200_020);
    }

    #[test]
    fn a_thread_without_its_cpu_spoils_the_window() {
        let now = Instant::now();
        assert!(figure(&[span(now, Duration::from_micros(971), 1)]).is_ok());
        assert_eq!(figure(&[span(now, MS, 1), span(now, Duration::from_micros(969), 1)]), Err(Disturbed::WithoutCpu));
        assert_eq!(figure(&[span(now, MS, 0)]), Err(Disturbed::WithoutCpu));
        let short = |cpu| Span { wall: Duration::from_micros(30), ..span(now, Duration::from_micros(cpu), 1) };
        assert!(figure(&[short(27)]).is_ok(), "the clocks themselves");
        assert_eq!(figure(&[short(26)]), Err(Disturbed::WithoutCpu));
        assert_eq!(figure(&[Span::nothing()]), Err(Disturbed::WithoutCpu));
        assert_eq!(figure(&[]), Err(Disturbed::WithoutCpu));
    }

    #[test]
    fn starts_too_far_apart_spoil_the_window() {
        let now = Instant::now();
        for spans in [[now, now + Duration::from_micros(51)], [now + Duration::from_micros(51), now]] {
            assert_eq!(figure(&spans.map(|start| span(start, MS, 1))), Err(Disturbed::Apart));
        }
    }

    #[test]
    fn starts_must_be_closer_in_a_short_round() {
        let (now, wall) = (Instant::now(), MS / 10);
        let short = |start| Span { wall, ..span(start, wall, 1) };
        assert!(figure(&[short(now), short(now + Duration::from_micros(5))]).is_ok());
        assert_eq!(figure(&[short(now), short(now + Duration::from_micros(6))]), Err(Disturbed::Apart));
    }

    #[test]
    fn chunks_take_ten_microseconds() {
        assert_eq!(chunk(Figure { per_thread: 2.0, system: 1.0 }), 5000);
        assert_eq!(chunk(Figure { per_thread: 1e9, system: 1e9 }), 16);
        assert_eq!(LENGTH.as_nanos() as f64, CHUNK_NANOSECONDS * f64::from(CHUNKS));
    }

    struct Sleeper;

    impl Contender for Sleeper {
        fn work(&self, _: usize, pace: Pace<'_>) {
            pace.run(|_| thread::sleep(MS));
        }
        fn check(&self, _: u64) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn a_window_spent_asleep_does_not_count() -> io::Result<()> {
        let spans = measure(&Sleeper, &cpu::allowed()?[..1], 1, MS)?;
        assert_eq!(figure(&spans), Err(Disturbed::WithoutCpu));
        Ok(())
    }

    /// The second thread has more steps than it can do in its time.
    struct Steps {
        first: u32,
        fails_at: u32,
    }

    impl Contender for Steps {
        fn work(&self, thread: usize, pace: Pace<'_>) {
            assert_eq!(pace.threads(), 2);
            let steps = if thread == 0 { self.first } else { u32::MAX };
            let mut next = 7;
            let result = pace.go_through(7..steps, 3, |some| {
                assert_eq!(some.start, next, "each step once");
                next = some.end;
                if (some.start..some.end).contains(&self.fails_at) { Err(self.fails_at) } else { Ok(()) }
            });
            assert_eq!(result, if next > self.fails_at { Err(self.fails_at) } else { Ok(next) });
        }
        fn check(&self, _: u64) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    fn a_round_ends_with_the_steps_of_one_thread_or_its_time_or_an_error() -> io::Result<()> {
        let cpu = cpu::allowed()?[0];
        for (first, fails_at) in [(1000, u32::MAX), (u32::MAX, u32::MAX), (u32::MAX, 300)] {
            let begin = Instant::now();
            let spans = measure(&Steps { first, fails_at }, &[cpu, cpu], 100, MS)?;
            assert!(begin.elapsed() < Duration::from_secs(5), "{first}");
            assert!(spans.iter().all(|span| span.operations > 0 && span.operations % 3 == 0 && span.warm_up == 0));
            if first == 1000 {
                assert!(spans[0].operations <= 3000);
            }
        }
        Ok(())
    }

    struct FailsEarly;

    impl Contender for FailsEarly {
        fn work(&self, thread: usize, pace: Pace<'_>) {
            assert_eq!(thread, 0, "the second thread fails before it works");
            pace.run(|_| ());
        }
        fn check(&self, _: u64) -> Result<(), String> {
            Ok(())
        }
    }

    #[test]
    #[should_panic(expected = "the second thread fails")]
    fn a_thread_that_fails_does_not_keep_the_other_one_waiting() {
        let cpu = cpu::allowed().expect("this thread runs on some CPU")[0];
        let _ = measure(&FailsEarly, &[cpu, cpu], 1, MS);
    }
}
