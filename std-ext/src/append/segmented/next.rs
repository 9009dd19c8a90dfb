//! `NextRecord`: the next record, as a future.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use jeton_core::append::Record;

use super::{LogReader, ReadError, reader::record, signal::settled};
use crate::cancel::Canceled;

/// The next record of a [`LogReader`], by [`LogReader::next_record`].
///
/// It has read nothing until it is ready; after that it is pending for ever.
#[must_use = "a future does nothing until it is polled"]
pub struct NextRecord<'a> {
    /// None once it was ready: the record is the reader's borrower then.
    reader: Option<&'a mut LogReader>,
    /// From the first poll on that finds nothing.
    wake: Option<Canceled>,
}

impl<'a> NextRecord<'a> {
    pub(super) fn new(reader: &'a mut LogReader) -> Self {
        Self { reader: Some(reader), wake: None }
    }

    /// What there is now.
    fn look(&mut self) -> Poll<Result<Record<'a>, ReadError>> {
        let Some(reader) = &mut self.reader else { return Poll::Pending };
        let Some(found) = reader.look().and_then(record).transpose() else { return Poll::Pending };
        self.reader = None;
        self.wake = None;
        Poll::Ready(found)
    }

    /// Makes the next change of the log wake this task: whether there was one meanwhile.
    fn register(&mut self, context: &mut Context<'_>) -> bool {
        if self.wake.is_none() {
            self.wake = self.reader.as_ref().and_then(|reader| reader.log().signal.next_wake());
        }
        let Some(wake) = &mut self.wake else {
            // There is no memory to wait with: looks again as soon as the executor comes to it.
            context.waker().wake_by_ref();
            return false;
        };
        let woken = Pin::new(wake).poll(context).is_ready();
        if woken {
            self.wake = None;
        }
        woken
    }
}

impl<'a> Future for NextRecord<'a> {
    type Output = Result<Record<'a>, ReadError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let ready @ Poll::Ready(_) = self.look() {
            return ready;
        }
        while self.reader.is_some() {
            if self.register(context) {
                continue;
            }
            settled();
            return self.look();
        }
        Poll::Pending
    }
}

impl fmt::Debug for NextRecord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextRecord").field("reader", &self.reader).field("waits", &self.wake.is_some()).finish()
    }
}
