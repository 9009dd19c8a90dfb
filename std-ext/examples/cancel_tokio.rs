//! Cancellation beside tokio: the tasks belong to its runtime, who stops them does not.
//!
//! A server with three connections. One of them is slow and is given up by its own deadline; then the server stops, and with it the others.

use std::{thread, time::Duration};

use jeton::cancel::{CancelSource, CancelToken, Reason};
use tokio::{runtime::Builder, task::yield_now, time::sleep};

/// Answers requests until it is told to stop; how many, and why it has stopped.
async fn connection(token: CancelToken) -> (u32, Reason) {
    let mut answers = 0;
    let serve = async {
        loop {
            sleep(Duration::from_millis(1)).await;
            answers += 1;
        }
    };
    let reason = token.run_until_canceled(serve).await.unwrap_or_else(|reason| reason);
    (answers, reason)
}

/// A task that never rests: it is asked to stop at each poll, and not only when it waits.
async fn busy(token: CancelToken) -> Reason {
    let spin = async {
        loop {
            yield_now().await;
        }
    };
    token.run_until_canceled(spin).await.unwrap_or_else(|reason| reason)
}

fn main() {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let server = CancelSource::new();
    let answered = runtime.block_on(async {
        let connections = [server.child(), server.child(), server.child()];
        let tasks = connections.each_ref().map(|source| tokio::spawn(connection(source.token())));
        let spinning = tokio::spawn(busy(server.token()));

        // A deadline is a timer of the runtime and a cancel with a reason.
        let [slow, ..] = &connections;
        sleep(Duration::from_millis(5)).await;
        assert!(slow.cancel_with(Reason::DEADLINE));

        // The end of the server comes from a thread that has nothing to do with the runtime.
        let stop = thread::spawn({
            let server = server.clone();
            move || server.cancel_with(Reason::new(17))
        });
        assert_eq!(server.token().canceled().await, Ok(Reason::new(17)));
        assert!(stop.join().expect("no panic"));

        let (mut answered, mut reasons) = (0, Vec::new());
        for task in tasks {
            let (answers, reason) = task.await.expect("no panic");
            answered += answers;
            reasons.push(reason);
        }
        assert_eq!(reasons, [Reason::DEADLINE, Reason::new(17), Reason::new(17)]);
        assert_eq!(spinning.await.expect("no panic"), Reason::new(17));
        answered
    });
    assert!(answered > 0);
    println!("{answered} requests were answered before {}", server.token().reason().expect("canceled"));
}
