//! Cancellation with a bare executor: `block_on` here is a dozen lines, and nothing else is needed.
//!
//! A worker waits for messages or for the end. The end comes as a cancel from another thread; or all sources go without one, and the worker
//! is told that too.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{Arc, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use jeton::cancel::{CancelSource, CancelToken, Dismissed, Reason};

/// Wakes the thread that runs the future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end in this thread, which sleeps while there is nothing to do.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Adds up what it receives, until it is canceled: then what it has and why.
async fn add_up(token: CancelToken, numbers: mpsc::Receiver<u32>) -> (u32, Reason) {
    let mut sum = 0;
    let receive = poll_fn(|context| {
        while let Ok(number) = numbers.try_recv() {
            sum += number;
        }
        // A channel without wakers: look again, but let others run.
        context.waker().wake_by_ref();
        thread::yield_now();
        Poll::<()>::Pending
    });
    let ended = token.run_until_canceled(receive).await;
    (sum, ended.expect_err("it receives until it is canceled"))
}

fn main() {
    // Canceled from another thread.
    let source = CancelSource::new();
    let (sender, numbers) = mpsc::channel();
    let worker = thread::spawn({
        let token = source.token();
        move || block_on(add_up(token, numbers))
    });
    let (told, tells) = mpsc::channel();
    let registration = source.token().on_cancel(move || told.send("stopped").expect("somebody listens")).expect("not canceled");
    for number in 1..=100 {
        sender.send(number).expect("the worker listens");
    }
    thread::sleep(Duration::from_millis(10));
    assert!(source.cancel_with(Reason::new(20)));
    let (sum, reason) = worker.join().expect("no panic");
    assert!(sum <= 5050, "{sum}");
    assert_eq!((reason, tells.recv()), (Reason::new(20), Ok("stopped")));
    drop(registration);

    // Asleep, and woken once.
    let source = CancelSource::new();
    let sleeper = thread::spawn({
        let canceled = source.child().token().canceled();
        let of_source = source.token().canceled();
        move || (block_on(canceled), block_on(of_source))
    });
    thread::sleep(Duration::from_millis(10));
    assert!(source.cancel());
    // The child's source went at once: nobody can cancel it any more.
    assert_eq!(sleeper.join().expect("no panic"), (Err(Dismissed), Ok(Reason::REQUESTED)));

    // All sources go without a cancel: who waits is told, and does not hang.
    let guard = CancelSource::new().drop_guard();
    let token = guard.token();
    let waiter = thread::spawn(move || block_on(token.canceled()));
    drop(guard.disarm());
    assert_eq!(waiter.join().expect("no panic"), Err(Dismissed));
    println!("the worker got to {sum} before {reason}");
}
