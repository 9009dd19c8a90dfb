//! What step tests have in common; each of them compiles the core's sources itself, as `crate::sync` and others.

use std::{cell::RefCell, rc::Rc};

use crate::sync::model::interrupted;

/// Interrupts `operation` with `interrupt` before its step `at`; what both returned, or `None` if it has not so many steps.
pub fn interrupt_at<S: 'static, A: 'static, B: 'static>(
    at: usize,
    subject: &Rc<S>,
    operation: impl FnOnce(&S) -> A,
    interrupt: impl FnOnce(&S) -> B + 'static,
) -> Option<(A, B)> {
    let (inner_subject, inner) = (subject.clone(), Rc::new(RefCell::new(None)));
    let result = inner.clone();
    let mut outer = None;
    let run = move || *result.borrow_mut() = Some(interrupt(&inner_subject));
    let happened = interrupted(at, || outer = Some(operation(subject)), run);
    let inner = inner.borrow_mut().take();
    happened.then(|| (outer.expect("the operation has run"), inner.expect("the interrupt has run")))
}

/// What an operation borrows for ever.
pub fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Interrupts `operation` with `interrupt` at every step, each time on a new `subject`, and then checks.
pub fn at_every_step<S: 'static, A: 'static, B: 'static>(
    subject: impl Fn() -> S,
    operation: impl Fn(&'static S) -> A,
    interrupt: impl Fn(&'static S) -> B + Clone + 'static,
    check: impl Fn(&'static S, A, B, usize),
) -> usize {
    for at in 0.. {
        let (subject, interrupt): (&'static S, _) = (leak(subject()), interrupt.clone());
        let both = interrupt_at(at, &Rc::new(subject), |subject| operation(subject), move |subject| interrupt(subject));
        let Some((outer, inner)) = both else { return at };
        check(subject, outer, inner, at);
    }
    unreachable!("an operation has an end")
}
