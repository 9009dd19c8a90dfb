//! `Tube`: first in, first out; who takes a task has it until it acknowledges it.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasherDefault, DefaultHasher},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Unique in the tube.
    pub id: u64,
    /// What it is about.
    pub data: Box<str>,
}

/// Nobody has taken a task of this ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub u64);

/// A tube.
#[derive(Debug, Default)]
pub struct Tube {
    tasks: Mutex<Tasks>,
    came: Condvar,
}

#[derive(Debug, Default)]
struct Tasks {
    next: u64,
    sleepers: usize,
    ready: VecDeque<Task>,
    // The hash has no random key, so that counts are the same in every run.
    taken: HashMap<u64, Task, BuildHasherDefault<DefaultHasher>>,
}

impl Tube {
    /// With room for so many tasks that are ready and so many that are taken.
    pub fn with_room(ready: usize, taken: usize) -> Self {
        let tube = Self::default();
        tube.tasks().ready.reserve(ready);
        tube.tasks().taken.reserve(taken);
        tube
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a task and returns its ID.
    pub fn put(&self, data: &str) -> u64 {
        let mut tasks = self.tasks();
        let id = tasks.next;
        tasks.next += 1;
        tasks.ready.push_back(Task { id, data: data.into() });
        if tasks.sleepers > 0 {
            self.came.notify_one();
        }
        id
    }

    /// Takes the oldest task, if there is one.
    pub fn try_take(&self) -> Option<u64> {
        self.tasks().take()
    }

    /// Takes the oldest task; waits for one, at most for `timeout`.
    pub fn take(&self, timeout: Duration) -> Option<u64> {
        let until = Instant::now() + timeout;
        let mut tasks = self.tasks();
        loop {
            if let Some(id) = tasks.take() {
                return Some(id);
            }
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            tasks.sleepers += 1;
            tasks = self.came.wait_timeout(tasks, left).unwrap_or_else(PoisonError::into_inner).0;
            tasks.sleepers -= 1;
        }
    }

    /// The task is done.
    ///
    /// # Errors
    /// If it is not taken.
    pub fn ack(&self, id: u64) -> Result<Task, Refused> {
        self.tasks().taken.remove(&id).ok_or(Refused(id))
    }

    /// Puts all that is taken back, the oldest first; returns how many.
    pub fn release_all(&self) -> usize {
        let mut tasks = self.tasks();
        let mut back: Vec<Task> = tasks.taken.drain().map(|(_, task)| task).collect();
        back.sort_unstable_by_key(|task| std::cmp::Reverse(task.id));
        let count = back.len();
        for task in back {
            tasks.ready.push_front(task);
        }
        count
    }

    /// How many tasks are ready, and how many are taken.
    pub fn counts(&self) -> (usize, usize) {
        let tasks = self.tasks();
        (tasks.ready.len(), tasks.taken.len())
    }
}

impl Tasks {
    fn take(&mut self) -> Option<u64> {
        let task = self.ready.pop_front()?;
        let id = task.id;
        self.taken.insert(id, task);
        Some(id)
    }
}
