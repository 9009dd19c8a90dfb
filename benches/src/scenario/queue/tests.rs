use std::time::Duration;

use super::{Mode, NoMode, Queue, QueueState, Role, confirm, faults, fill, tasks, threads};
use crate::originals::queue::{Instance, Machine, Tube, Wanted};

const SHORT: Duration = Duration::from_millis(50);

#[test]
fn a_mode_that_is_not_running_refuses() {
    fn refuses(mode: &impl Mode) {
        let tube = Tube::default();
        assert_eq!((fill(mode, &tube, 3), tube.counts()), (0, (0, 0)));
        assert_eq!(fill(&NoMode, &tube, 3), 3);
        assert_eq!((confirm(mode, &tube, 3), tube.counts()), (0, (3, 0)));
        assert_eq!((confirm(&NoMode, &tube, 3), tube.counts()), (3, (0, 0)));
    }
    refuses(&Machine::new());
    refuses(&Queue::new());
    assert!(Queue::running().check() && Machine::running().check());
}

#[test]
fn the_machine_goes_its_way_and_no_other() {
    use QueueState::{Ending, Init, Running, Startup, Waiting};
    let all = [Init, Startup, Running, Ending, Waiting];
    let queue = Queue::new();
    for to in [Init, Running, Ending, Waiting] {
        assert!(queue.state().try_transition(Init, to).is_err(), "{to:?}");
    }
    for (from, to) in
        [(Init, Startup), (Startup, Running), (Running, Ending), (Ending, Waiting), (Waiting, Startup), (Startup, Ending)]
    {
        assert!(queue.state().try_transition(from, to).is_ok(), "{from:?} {to:?}");
        assert_eq!(queue.state().snapshot().state, to);
        assert_eq!(queue.check(), to == Running);
    }
    assert!(all.iter().all(|to| queue.state().try_transition(Waiting, *to).is_err()), "it is in Ending");
}

#[test]
fn every_kind_does_all_its_tasks() {
    for kind in tasks::KINDS {
        for times in [tasks::time(kind, 7, 11), threads::time(kind, 7, 11)] {
            assert!(times.is_some_and(|[fill, confirm]| fill >= 0.0 && confirm >= 0.0), "{kind}");
        }
    }
    assert_eq!((tasks::time("other", 1, 1), threads::time("other", 1, 1)), (None, None));
}

#[test]
fn a_polling_watcher_ends_when_it_sees_the_change() {
    let (instance, tube) = (Instance::new(Wanted::ReadOnly), Tube::default());
    assert_eq!(tasks::all_fill(&NoMode, &tube, tasks::Watcher::Polling(&instance), 3, 5), 15);
}

#[test]
fn all_flips_are_seen_by_ours_and_none_by_the_original() {
    assert_eq!((faults::flips_of_original(100), faults::flips_of_ours(100)), (0, 100));
}

#[test]
fn a_blocked_take_is_released_by_the_end_of_ours_only() {
    assert!(faults::release_of_original(SHORT).unwrap() >= 40.0);
    // Far less than its timeout, whatever the machine does meanwhile.
    assert!(faults::release_of_ours(Duration::from_secs(2)).unwrap() < 2000.0);
}

#[test]
fn a_take_of_ours_gets_what_is_put_later() {
    let (queue, tube) = (Queue::running(), Tube::default());
    std::thread::scope(|scope| {
        let takes: Vec<_> = (0..4).map(|_| scope.spawn(|| queue.take(&tube, Duration::from_secs(20)))).collect();
        std::thread::sleep(SHORT);
        let put: Vec<u64> = (0..4).map(|_| queue.put(&tube, "a").unwrap()).collect();
        let mut taken: Vec<u64> = takes.into_iter().map(|takes| takes.join().unwrap().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, put);
    });
    assert_eq!(queue.take(&tube, SHORT), None, "its time is over");
    assert!(queue.set_role(Role::Writable).is_err(), "it is that already");
    queue.end();
    assert_eq!((queue.put(&tube, "a"), queue.take(&tube, 400 * SHORT)), (None, None), "refused at once");
}
