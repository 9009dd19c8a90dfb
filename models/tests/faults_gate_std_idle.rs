//! What a gate's waiters cost while they wait, and once they have gone, as the system counts it: nothing.
#![cfg(all(target_os = "linux", target_has_atomic = "64", not(any(jeton_loom, jeton_shuttle, miri))))]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc,
    task::{Context, Waker},
    thread,
    time::{Duration, Instant},
};

use jeton::{
    cancel::CancelSource,
    gate::{Gate, StateSet, Waited, states},
};

states! {
    /// A circle, and a state that comes once, at the end.
    enum Mode: open Running {
        Idle -> [Running, Ended], abort Ended;
        Running -> [Idle], abort Idle;
        Ended -> [];
    }
}

const WAITERS: usize = 650;

fn laps(gate: &Gate<Mode>, transitions: u32) {
    for _ in 0..transitions / 2 {
        gate.try_transition(Mode::Idle, Mode::Running).expect("an edge");
        gate.try_transition(Mode::Running, Mode::Idle).expect("an edge");
    }
}

/// What the system counts of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    voluntary_switches: u64,
    nanoseconds: u64,
    is_asleep: bool,
}

fn count(task: &Path) -> Count {
    let status = fs::read_to_string(task.join("status")).expect("the thread runs");
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).expect("a field").trim();
    let times = fs::read_to_string(task.join("schedstat")).expect("the thread runs");
    Count {
        voluntary_switches: field("voluntary_ctxt_switches:").parse().expect("a number"),
        nanoseconds: times.split(' ').next().expect("a field").parse().expect("a number"),
        is_asleep: field("State:").starts_with('S'),
    }
}

fn counts(tasks: &[PathBuf]) -> Vec<Count> {
    tasks.iter().map(|task| count(task)).collect()
}

/// Once all sleep and nothing changes any more.
fn settled(tasks: &[PathBuf]) -> Vec<Count> {
    let mut before = counts(tasks);
    loop {
        thread::sleep(Duration::from_millis(200));
        let now = counts(tasks);
        if now == before && now.iter().all(|count| count.is_asleep) {
            return now;
        }
        before = now;
    }
}

/// Runs `test` while so many threads do `waits`, each with its number; the system's folder of each is the test's, in that order.
fn beside_waiters(count: usize, waits: impl Fn(usize) + Sync, test: impl FnOnce(&[PathBuf])) {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for number in 0..count {
            let (sender, waits) = (sender.clone(), &waits);
            let waits = move || {
                let task = fs::read_link("/proc/thread-self").expect("the system has it");
                sender.send((number, PathBuf::from("/proc").join(task))).expect("the test listens");
                drop(sender);
                waits(number);
            };
            thread::Builder::new().stack_size(1 << 16).spawn_scoped(scope, waits).expect("room for a thread");
        }
        drop(sender);
        let mut tasks: Vec<(usize, PathBuf)> = receiver.iter().collect();
        tasks.sort_unstable();
        test(&tasks.into_iter().map(|(_, task)| task).collect::<Vec<_>>());
    });
}

#[test]
fn of_650_threads_none_runs_until_what_it_waits_for_has_come() {
    let gate = Gate::<Mode>::new();
    let waits = |_| assert!(matches!(gate.wait_for(Mode::Ended, None, None), Waited::Reached(_)));
    beside_waiters(WAITERS, waits, |tasks| {
        let before = settled(tasks);
        laps(&gate, 1000);
        let beside_transitions = counts(tasks);
        thread::sleep(Duration::from_secs(2));
        let idle = counts(tasks);
        gate.try_transition(Mode::Idle, Mode::Ended).expect("an edge");

        let switches = |counts: &[Count]| counts.iter().map(|count| count.voluntary_switches).sum::<u64>();
        let nanoseconds = |counts: &[Count]| counts.iter().map(|count| count.nanoseconds).sum::<u64>();
        println!(
            "{WAITERS} threads: {} switches and {} ns beside 1000 transitions, {} and {} in 2 s of nothing",
            switches(&beside_transitions) - switches(&before),
            nanoseconds(&beside_transitions) - nanoseconds(&before),
            switches(&idle) - switches(&beside_transitions),
            nanoseconds(&idle) - nanoseconds(&beside_transitions),
        );
        assert_eq!(switches(&idle), switches(&before));
        // 0.01 % of a core.
        assert!(nanoseconds(&idle) - nanoseconds(&before) <= 200_000);
    });
}

/// They wake each other, and a state that has gone again by then is missed. Who sleeps again is left alone.
#[test]
fn a_crowd_that_has_missed_its_state_is_quiet() {
    let gate = Gate::<Mode>::new();
    // Each state that it sees makes it wait for the next one.
    let waits = |_| loop {
        let Waited::Reached(now) = gate.wait_for([Mode::Running, Mode::Ended], None, None) else { panic!("no other end") };
        if now.state == Mode::Ended {
            break;
        }
        _ = gate.wait_change(now.epoch, None, None);
    };
    beside_waiters(WAITERS, waits, |tasks| {
        settled(tasks);
        for _ in 0..20 {
            laps(&gate, 2);
            thread::sleep(Duration::from_micros(300));
        }
        // It does not return as long as anything goes on.
        let before = settled(tasks);
        thread::sleep(Duration::from_millis(300));
        let quiet = counts(tasks) == before;
        gate.try_transition(Mode::Idle, Mode::Ended).expect("an edge");
        assert!(quiet);
    });
}

/// A crowd that is woken wakes those who wait for its state, and nobody else, though some wait for both.
#[test]
fn a_crowd_wakes_nobody_who_waits_for_another_state() {
    const EACH: usize = 20;
    let gate = Gate::<Mode>::new();
    let wanted = [Mode::Ended.into(), Mode::Running.into(), StateSet::from([Mode::Running, Mode::Ended])];
    let waits = |number| assert!(matches!(gate.wait_for(wanted[number / EACH], None, None), Waited::Reached(_)));
    beside_waiters(wanted.len() * EACH, waits, |tasks| {
        settled(tasks);
        let of_the_end = &tasks[..EACH];
        let before = counts(of_the_end);
        gate.try_transition(Mode::Idle, Mode::Running).expect("an edge");
        let after = settled(of_the_end);
        gate.try_transition(Mode::Running, Mode::Idle).expect("an edge");
        gate.try_transition(Mode::Idle, Mode::Ended).expect("an edge");
        assert_eq!(after, before);
    });
}

/// For the end alone there is nothing to do until it comes, either.
#[test]
fn who_waits_for_no_state_sleeps_until_the_end() {
    let gate = Gate::<Mode>::new();
    let waits = |_| assert_eq!(gate.wait_for(StateSet::none(), None, None), Waited::Closed);
    beside_waiters(1, waits, |task| {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut before = counts(task);
        let sleeps = loop {
            thread::sleep(Duration::from_millis(50));
            let now = counts(task);
            if now == before || Instant::now() > deadline {
                break now == before;
            }
            before = now;
        };
        laps(&gate, 2);
        assert!(gate.close());
        assert!(sleeps);
    });
}

/// What the tracer is shown: a look for a file that is not there.
fn mark(name: &str) {
    assert!(fs::metadata(format!("/jeton-mark-{name}")).is_err());
}

/// Run by the next test, in a process of its own.
#[test]
#[ignore = "is run by another one, below a tracer"]
fn traced() {
    let gate = Gate::<Mode>::new();
    let soon = || Some(Instant::now() + Duration::from_millis(5));
    // Success, of a thread and of a task.
    let mut task = Box::pin(gate.reached(Mode::Running));
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    thread::scope(|scope| {
        let waits = scope.spawn(|| gate.wait_for(Mode::Running, None, None));
        thread::sleep(Duration::from_millis(50));
        mark("control");
        gate.try_transition(Mode::Idle, Mode::Running).expect("an edge");
        mark("controlled");
        assert!(matches!(waits.join().expect("no panic"), Waited::Reached(_)));
    });
    assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    // The deadline, on the gate's word and on one's own.
    let source = CancelSource::new();
    assert_eq!(gate.wait_for(Mode::Idle, soon(), None), Waited::TimedOut);
    assert_eq!(gate.wait_for(Mode::Idle, soon(), Some(&source.token())), Waited::TimedOut);
    // A cancel, and a task that gives up.
    thread::scope(|scope| {
        let token = source.token();
        let gate = &gate;
        let waits = scope.spawn(move || gate.wait_for(Mode::Idle, None, Some(&token)));
        thread::sleep(Duration::from_millis(20));
        assert!(source.cancel());
        assert_eq!(waits.join().expect("no panic"), Waited::Canceled);
    });
    assert!(Box::pin(gate.reached(Mode::Idle)).as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    // Threads that wait for any change, and for the end alone.
    assert_eq!(gate.wait_change(gate.snapshot().epoch, soon(), None), Waited::TimedOut);
    assert_eq!(gate.wait_for(StateSet::none(), soon(), None), Waited::TimedOut);
    // Whatever state they have waited for: when it comes the transition takes their interest with it, and wakes in vain.
    gate.try_transition(Mode::Running, Mode::Idle).expect("an edge");
    laps(&gate, 2);
    mark("begin");
    laps(&gate, 1000);
    mark("end");
}

/// Calls of `futex` by the thread that made the marks, between two of them.
fn calls_between(trace: &str, from: &str, to: &str) -> usize {
    let is_mark = |line: &&str, name: &str| line.contains(&format!("/jeton-mark-{name}\""));
    let after: Vec<&str> = trace.lines().skip_while(|line| !is_mark(line, from)).collect();
    let thread = after.first().and_then(|line| line.split_whitespace().next()).expect("the mark is there");
    let mine: Vec<&str> = after.into_iter().take_while(|line| !is_mark(line, to)).filter(|line| line.starts_with(thread)).collect();
    assert!(trace.lines().any(|line| is_mark(&line, to)), "the other mark is there");
    mine.into_iter().filter(|line| line.contains("futex(")).count()
}

#[test]
fn a_thousand_transitions_after_waiters_have_gone_make_no_system_call() {
    let Ok(own) = env::current_exe() else {
        println!("SKIP: this program does not know where it is");
        return;
    };
    let file = env::temp_dir().join(format!("jeton-trace-{}", std::process::id()));
    let mut tracer = Command::new("strace");
    tracer.arg("-f").arg("-o").arg(&file).args(["-e", "trace=futex,stat,statx,newfstatat"]).arg(own);
    let output = match tracer.args(["--exact", "traced", "--ignored", "--test-threads=1"]).output() {
        Ok(output) => output,
        Err(error) => {
            println!("SKIP: there is no strace: {error}");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let trace = fs::read_to_string(&file).unwrap_or_default();
    _ = fs::remove_file(&file);
    if said.contains("PTRACE") || said.contains("Operation not permitted") {
        println!("SKIP: strace may not trace here: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    // Otherwise the tracer would not see what it is to count.
    assert!(calls_between(&trace, "control", "controlled") >= 1, "a thread was woken:\n{trace}");
    assert_eq!(calls_between(&trace, "begin", "end"), 0);
}
