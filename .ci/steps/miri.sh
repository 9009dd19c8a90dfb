# Miri on the core and on small stress runs: this machine's words, 32-bit words, and big-endian ones.
set -euo pipefail
if ! cargo +nightly miri --version >/dev/null 2>&1; then
  if ! command -v rustup >/dev/null || ! rustup component add miri rust-src --toolchain nightly; then
    echo "SKIP: no nightly compiler with Miri here, and rustup cannot add it"
    exit 77
  fi
fi
export CARGO_TARGET_DIR=target/miri JETON_STRESS_ROUNDS=40
blocking=(threads_and_a_task_hand_memory_round a_crowd_is_woken_at_every_turn)
ran=0
for target in x86_64-unknown-linux-gnu i686-unknown-linux-gnu s390x-unknown-linux-gnu; do
  if ! cargo +nightly miri setup --target "$target"; then
    echo "SKIP $target: its standard library cannot be built for Miri here"
    continue
  fi
  echo "== $target"
  cargo +nightly miri test --locked --quiet -p jeton-core --lib --target "$target"
  # crossbeam-epoch keeps to Tree Borrows, and not to the stricter Stacked Borrows, which everything else is held to; and what it has left at
  # the end Miri takes for lost, since its pointers are integers.
  stress() { cargo +nightly miri test --locked --quiet -p jeton-models --no-default-features --test stress --target "$target" -- "$@"; }
  MIRIFLAGS="-Zmiri-disable-isolation" stress --except a_segmented_log_hands_records_over "${blocking[@]}"
  # Threads that wait for the gate of std sleep in the queues of parking_lot_core here, which make pointers of integers.
  MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance" stress --only "${blocking[@]}"
  MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks" stress --only a_segmented_log_hands_records_over
  ran=$((ran + 1))
done
if [[ $ran -eq 0 ]]; then exit 77; fi
