//! Many callbacks, many children, many levels.

use core::{
    pin::Pin,
    task::{Context, Waker},
};

use super::{Attaches, Callback, Calls, Cancel, Hierarchy, Waits, begin};

/// A source with so many callbacks.
pub fn with_callbacks<C: Attaches>(kind: C, callbacks: u32, callback: Callback, calls: &'static Calls) -> C::Source {
    let mut source = kind.source();
    for _ in 0..callbacks {
        kind.attach(&mut source, callback, calls);
    }
    source
}

/// The cancel alone.
#[inline]
pub fn cancel<C: Cancel>(source: C::Source) -> C::Source {
    C::cancel(&source);
    source
}

/// The cancel and all that is dropped with the source.
#[inline]
pub fn cancel_and_drop<C: Cancel>(source: C::Source) {
    C::cancel(&source);
    drop(source);
}

/// So many children of a source, which live on.
pub fn siblings<C: Hierarchy>(parent: &C::Source, children: u32) -> Vec<C::Source> {
    (0..children).map(|_| C::child(parent)).collect()
}

/// A child of a source, a child of that, and so on, with something done to each when it is born.
pub fn chain<C: Hierarchy>(root: &C::Source, levels: u32, mut born: impl FnMut(&mut C::Source)) -> Vec<C::Source> {
    let mut below: Vec<C::Source> = Vec::with_capacity(levels as usize);
    for _ in 0..levels {
        let mut child = C::child(below.last().unwrap_or(root));
        born(&mut child);
        below.push(child);
    }
    below
}

/// A task begins to wait in each of the sources.
///
/// # Panics
/// If a wait is over at once.
pub fn wait_in<'s, C: Waits>(sources: impl IntoIterator<Item = &'s C::Source>, waker: &Waker) -> Vec<C::Wait<'s>>
where
    C::Source: 's,
{
    let wait = |source| {
        let mut wait = C::wait(&C::token(source));
        begin(&mut wait, waker);
        wait
    };
    sources.into_iter().map(wait).collect()
}

/// Whether no wait goes on.
pub fn are_over(waits: &mut [impl Future + Unpin]) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    waits.iter_mut().all(|wait| Pin::new(wait).poll(&mut context).is_ready())
}

/// A root, a child of it, a child of that, and so on; a callback on each but the root.
#[derive(Debug)]
pub struct Chain<S> {
    root: S,
    below: Vec<S>,
}

impl<S> Chain<S> {
    /// So many levels below the root.
    pub fn new<C: Hierarchy<Source = S> + Attaches>(kind: C, levels: u32, callback: Callback, calls: &'static Calls) -> Self {
        let root = kind.source();
        let below = chain::<C>(&root, levels, |child| kind.attach(child, callback, calls));
        Self { root, below }
    }

    /// The cancel of the root alone.
    #[inline]
    pub fn cancel<C: Cancel<Source = S>>(self) -> Self {
        C::cancel(&self.root);
        self
    }

    /// The cancel of the root and all that is dropped with the sources.
    #[inline]
    pub fn cancel_and_drop<C: Cancel<Source = S>>(self) {
        C::cancel(&self.root);
        drop(self);
    }

    /// The sources, the root first.
    pub fn sources(&self) -> impl Iterator<Item = &S> {
        [&self.root].into_iter().chain(&self.below)
    }
}

/// A source with children, in each of which a task waits.
#[derive(Debug)]
pub struct Waiting<C: Waits> {
    root: C::Source,
    waits: Vec<C::Wait<'static>>,
}

impl<C: Waits + Hierarchy> Waiting<C>
where
    C::Source: 'static,
{
    /// So many children. They are leaked, so that what borrows from them may be kept; the program measures and ends.
    ///
    /// # Panics
    /// If a wait is over at once.
    pub fn new(kind: C, children: u32, waker: &Waker) -> Self {
        let root = kind.source();
        let children: &'static [C::Source] = siblings::<C>(&root, children).leak();
        let waits = wait_in::<C>(children, waker);
        Self { root, waits }
    }

    /// The cancel alone.
    #[inline]
    pub fn cancel(self) -> Self {
        C::cancel(&self.root);
        self
    }

    /// Whether no wait goes on.
    pub fn are_over(&mut self) -> bool {
        are_over(&mut self.waits)
    }
}

/// A root, a child of it, and children of that.
#[derive(Debug)]
pub struct Middle<S> {
    root: S,
    middle: Option<S>,
    children: Vec<S>,
}

impl<S> Middle<S> {
    /// So many children below the one in the middle.
    pub fn new<C: Hierarchy<Source = S>>(kind: C, children: u32) -> Self {
        let root = kind.source();
        let middle = C::child(&root);
        let children = siblings::<C>(&middle, children);
        Self { root, middle: Some(middle), children }
    }

    /// The end of the one in the middle alone.
    #[inline]
    pub fn drop_middle(mut self) -> Self {
        self.middle = None;
        self
    }

    /// Cancels the root; how many of the children are canceled then.
    pub fn canceled_after_root<C: Cancel<Source = S>>(&self) -> usize {
        C::cancel(&self.root);
        self.children.iter().filter(|child| C::is_canceled(&C::token(child))).count()
    }
}
