use std::{
    collections::BTreeSet,
    thread,
    time::{Duration, Instant},
};

use super::{Instance, Machine, Refused, Tube, Wanted, Watch};

const SHORT: Duration = Duration::from_millis(50);

#[test]
fn a_tube_is_first_in_first_out_and_gives_a_task_to_one() {
    let tube = Tube::with_room(2, 2);
    assert_eq!((tube.put("a"), tube.put("b")), (0, 1));
    assert_eq!(tube.try_take(), Some(0));
    assert_eq!(tube.counts(), (1, 1));
    assert_eq!(tube.ack(1), Err(Refused(1)), "nobody has taken it");
    assert_eq!(tube.ack(0).map(|task| task.data), Ok("a".into()));
    assert_eq!(tube.ack(0), Err(Refused(0)), "done already");
    assert_eq!(tube.try_take(), Some(1));
    assert_eq!(tube.release_all(), 1);
    assert_eq!(tube.counts(), (1, 0));
    assert_eq!(tube.try_take(), Some(1));
    assert_eq!(tube.take(Duration::ZERO), None);
}

#[test]
fn a_take_waits_for_a_put() {
    let tube = Tube::default();
    thread::scope(|scope| {
        let takes = scope.spawn(|| tube.take(Duration::from_secs(20)));
        thread::sleep(SHORT);
        let id = tube.put("a");
        assert_eq!(takes.join().unwrap(), Some(id));
    });
}

#[test]
fn each_task_is_taken_once_by_several_threads() {
    let tube = Tube::default();
    let all: Vec<u64> = thread::scope(|scope| {
        let work = |_| {
            scope.spawn(|| {
                (0..500).for_each(|_| _ = tube.put("a"));
                let ids: Vec<u64> = (0..500).map(|_| tube.take(Duration::from_secs(20)).unwrap()).collect();
                ids.iter().for_each(|id| assert!(tube.ack(*id).is_ok()));
                ids
            })
        };
        let threads: Vec<_> = (0..4).map(work).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.len(), 2000);
    assert_eq!(all.into_iter().collect::<BTreeSet<u64>>().len(), 2000);
    assert_eq!(tube.counts(), (0, 0));
}

fn until(mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn slow_flips_are_seen_by_every_watcher() {
    for watch in [Watch::Sleep, Watch::Timed, Watch::Blocking] {
        let (instance, machine, tube) = (Instance::new(Wanted::ReadOnly), Machine::new(), Tube::default());
        thread::scope(|scope| {
            scope.spawn(|| machine.watch(&instance, &tube, watch));
            assert!(!machine.check());
            for flip in 1..=5 {
                instance.set(Wanted::Writable);
                until(|| machine.check());
                instance.set(Wanted::ReadOnly);
                until(|| machine.endings() == flip && !machine.check());
            }
            instance.end();
        });
    }
}

/// The fault: a flip that is over before the watcher looks was never there.
#[test]
fn a_flip_that_is_over_is_missed() {
    let instance = Instance::new(Wanted::Writable);
    instance.set(Wanted::ReadOnly);
    instance.set(Wanted::Writable);
    thread::scope(|scope| {
        let waits = scope.spawn(|| instance.wait(Wanted::ReadOnly, Watch::Blocking));
        thread::sleep(SHORT);
        assert!(!waits.is_finished());
        instance.end();
        assert!(!waits.join().unwrap());
    });
}

/// The fault: who is blocked stays blocked.
#[test]
fn a_take_is_not_released_when_the_queue_ends() {
    let (instance, machine, tube) = (Instance::new(Wanted::Writable), Machine::new(), Tube::default());
    thread::scope(|scope| {
        scope.spawn(|| machine.watch(&instance, &tube, Watch::Blocking));
        until(|| machine.check());
        let began = Instant::now();
        let takes = scope.spawn(|| machine.take(&tube, 4 * SHORT));
        thread::sleep(SHORT);
        instance.set(Wanted::ReadOnly);
        until(|| !machine.check());
        assert_eq!(takes.join().unwrap(), None);
        assert!(began.elapsed() >= 4 * SHORT);
        assert_eq!(machine.take(&tube, 100 * SHORT), None, "refused at once");
        instance.end();
    });
}
