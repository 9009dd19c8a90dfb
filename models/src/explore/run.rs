//! Exploring, with loom or shuttle.

use std::{
    any::{Any, type_name},
    cell::Cell,
    env,
    panic::{self, AssertUnwindSafe},
    time::Instant,
};

use jeton_core::sync::model;

use super::{
    Way,
    report::{Outcome, Report, Step, judge},
};

/// What [`fn@explore`] is to know of a model beside its body.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Threads that take steps at the same time. Of two, shuttle tries every interleaving; of more, many.
    pub threads: usize,
    /// The least number of executions under plain loom.
    pub loom: usize,
    /// The least number under loom with loads as read-modify-writes.
    pub rmw: usize,
    /// The least number under shuttle.
    pub shuttle: usize,
}

/// What [`find`] is to know of a seeded bug beside the model's body.
#[derive(Clone, Copy, Debug)]
pub struct Seeded<'a> {
    /// As in [`Model`].
    pub threads: usize,
    /// The ways that must find it.
    pub found_by: &'a [Way],
}

/// Under loom. Bugs need few preemptions; without a bound three threads take hours.
const PREEMPTIONS: usize = if cfg!(jeton_rmw_load) { 3 } else { 2 };

const WAY: Way = match Way::of_this_build() {
    Some(way) => way,
    None => unreachable!(),
};

/// Explores every interleaving of `body` that this build's checker can find.
///
/// # Panics
/// If an execution of it panics, or if there were fewer executions than the model must have.
#[track_caller]
pub fn explore<F: Fn() + Send + Sync + 'static>(model: Model, body: F) {
    explore_bounded(PREEMPTIONS, model, body);
}

/// As [`fn@explore`], with at most so many preemptions under loom: for models that would take hours.
///
/// # Panics
/// As there.
#[track_caller]
pub fn explore_bounded<F: Fn() + Send + Sync + 'static>(preemptions: usize, model: Model, body: F) {
    let least = match WAY {
        Way::Loom => model.loom,
        Way::Rmw => model.rmw,
        Way::Shuttle => model.shuttle,
    };
    let mut run = Run::of(model.threads, preemptions, body);
    // A weakened model is to be judged by its assertions alone.
    run.failure = judge(run.executions, if weakening() { 0 } else { least }, run.failure);
    run.report(least, if run.failure.is_none() { Outcome::Passed } else { Outcome::Failed });
    if let Some(failure) = run.failure {
        panic!("{failure}");
    }
}

/// Explores a model with a bug in it until that is found.
///
/// # Panics
/// If it is not found by a way that must find it.
#[track_caller]
pub fn find<F: Fn() + Send + Sync + 'static>(seeded: Seeded<'_>, body: F) {
    let run = Run::of(seeded.threads, PREEMPTIONS, body);
    let outcome = match run.failure {
        Some(_) => Outcome::Found,
        None if seeded.found_by.contains(&WAY) => Outcome::Missed,
        None => Outcome::Unseen,
    };
    run.report(0, outcome);
    assert!(outcome != Outcome::Missed, "the bug of this step must be found by {}", WAY.name());
}

/// The variable that asks for more schedules of two threads than fit into an everyday run.
#[cfg(jeton_shuttle)]
const LONG: &str = "JETON_LONG";

/// One exploration.
struct Run {
    model: String,
    executions: usize,
    milliseconds: u128,
    failure: Option<String>,
}

impl Run {
    fn of<F: Fn() + Send + Sync + 'static>(threads: usize, preemptions: usize, body: F) -> Self {
        let started = Instant::now();
        EXECUTIONS.set(0);
        let counted = move || {
            EXECUTIONS.set(EXECUTIONS.get() + 1);
            model::begin_trace();
            body();
        };
        let failure = panic::catch_unwind(AssertUnwindSafe(|| check(threads, preemptions, counted))).err();
        Self {
            model: test_name::<F>(),
            executions: EXECUTIONS.get(),
            milliseconds: started.elapsed().as_millis(),
            failure: failure.map(|payload| message(&*payload)),
        }
    }

    fn report(&self, least: usize, outcome: Outcome) {
        // One write for all lines, since another model may be printing too.
        let mut text = String::new();
        if self.failure.is_some() && env::var_os("JETON_TRACE").is_some() {
            for model::Step { thread, what, state } in model::trace() {
                text += &format!("\n{}", Step { thread, what, state }.line());
            }
        }
        let report = Report {
            model: self.model.clone(),
            executions: self.executions,
            least,
            milliseconds: self.milliseconds,
            outcome,
            reached: weakened_row_reached(),
            message: self.failure.clone().unwrap_or_default(),
        };
        println!("{text}\n{}", report.line());
    }
}

thread_local! {
    /// Executions of the model that this thread explores: all its threads run in this one.
    static EXECUTIONS: Cell<usize> = const { Cell::new(0) };
}

/// The function that the body stands in: `loom_counter::a_model::{{closure}}` is `a_model`.
fn test_name<F>() -> String {
    let path = type_name::<F>().split("::{{closure}}").next().unwrap_or_default();
    // A body made by a generic function of its own, `program::<List>`, is named by its caller: libtest's thread has that name.
    match std::thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => path.rsplit("::").next().unwrap_or_default().to_owned(),
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

#[cfg(jeton_loom)]
fn check(_threads: usize, preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // What is set by hand counts.
    builder.preemption_bound.get_or_insert(preemptions);
    builder.max_branches = builder.max_branches.max(10_000);
    builder.check(body);
}

#[cfg(jeton_shuttle)]
fn check(threads: usize, _preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    use shuttle::{
        Config, Runner,
        scheduler::{DfsScheduler, PctScheduler, RandomScheduler},
    };
    /// The same schedules in every run.
    const SEED: u64 = 7813;
    const SCHEDULES: usize = 10_000;
    let mut config = Config::new();
    config.silence_warnings = true;
    let body = std::sync::Arc::new(body);
    let body = || {
        let body = body.clone();
        move || body()
    };
    if threads <= 2 {
        let most = if env::var_os(LONG).is_some() { 1_000_000 } else { 50_000 };
        if Runner::new(DfsScheduler::new(Some(most), false), config.clone()).run(body()) < most {
            return;
        }
        // Too many to try them all: depth first has changed the last decisions only.
    }
    Runner::new(RandomScheduler::new_from_seed(SEED, SCHEDULES), config.clone()).run(body());
    Runner::new(PctScheduler::new_from_seed(SEED, 3, SCHEDULES), config).run(body());
}

#[cfg(jeton_loom)]
use model::{weakened_row_reached, weakening};
#[cfg(not(jeton_loom))]
fn weakening() -> bool {
    false
}
#[cfg(not(jeton_loom))]
fn weakened_row_reached() -> bool {
    false
}
