//! The rounds of the Open vSwitch paper on one pool, timed.
//!
//! `pool_rounds POOL IDS THREADS CUT_OFF_MS` prints a line for each round: its name, how often an allocation had to be tried again,
//! `ended` or `cut-off`, and the milliseconds of each thread. `cargo papers` builds and runs this program.
use std::{io::Write, process::ExitCode, sync::Mutex, time::Duration};

use jeton_benches::{
    originals::{Lean, MapPool, Shipped, SlabPool},
    scenario::pool::{
        OwnerCaches, StealableCaches,
        timed::{Timed, rounds},
    },
};
use jeton_core::pool::BorrowedBitPool;

type Rounds = fn(u32, u32, Duration) -> Vec<Timed>;

const POOLS: &[(&str, Rounds)] = &[
    ("slab-shipped", rounds::<SlabPool<Shipped>>),
    ("slab-lean", rounds::<SlabPool<Lean>>),
    ("map", rounds::<Mutex<MapPool>>),
    ("cache", rounds::<OwnerCaches>),
    ("stealable", rounds::<StealableCaches>),
    ("bit", rounds::<BorrowedBitPool<'static>>),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((rounds, ids, threads, cut_off)) = understand(&arguments) else {
        let names: Vec<&str> = POOLS.iter().map(|(name, _)| *name).collect();
        return refuse(&format!("usage: pool_rounds {} IDS THREADS CUT_OFF_MS, at least one ID a thread", names.join("|")));
    };
    let mut text = String::new();
    for Timed { round, threads, cut_off, retries } in rounds(ids, threads, cut_off) {
        let end = if cut_off { "cut-off" } else { "ended" };
        let times: Vec<String> = threads.iter().map(|time| format!("{:.6}", time.as_secs_f64() * 1e3)).collect();
        text += &format!("{round} {retries} {end} {}\n", times.join(" "));
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("pool_rounds: cannot print the times: {error}")),
    }
}

fn understand(arguments: &[String]) -> Option<(Rounds, u32, u32, Duration)> {
    let [pool, ids, threads, cut_off] = arguments else { return None };
    let (_, rounds) = POOLS.iter().find(|(name, _)| name == pool)?;
    let (ids, threads, cut_off) = (ids.parse().ok()?, threads.parse().ok()?, cut_off.parse().ok()?);
    (threads > 0 && threads <= ids).then(|| (*rounds, ids, threads, Duration::from_millis(cut_off)))
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
