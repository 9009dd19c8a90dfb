//! What the step tests of the pools have in common; each of them compiles the core's sources itself, as `crate::pool` and `crate::sync`.

use std::{cell::RefCell, rc::Rc};

use crate::{
    pool::{AllocError, FreeError},
    sync::model::interrupted,
};

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

/// As the error that the specification is made with, which is another type.
pub fn alloc_error(error: AllocError) -> jeton_core::pool::AllocError {
    match error {
        AllocError::Exhausted => jeton_core::pool::AllocError::Exhausted,
        AllocError::Contended => jeton_core::pool::AllocError::Contended,
    }
}

/// The same of a free.
pub fn free_error(error: FreeError) -> jeton_core::pool::FreeError {
    match error {
        FreeError::OutOfRange(id) => jeton_core::pool::FreeError::OutOfRange(id),
        FreeError::NotAllocated(id) => jeton_core::pool::FreeError::NotAllocated(id),
        FreeError::Stale(id) => jeton_core::pool::FreeError::Stale(id),
    }
}
