# ThreadSanitizer on the stress tests, with the stable compiler; first on wrong steps, which it must find.
set -euo pipefail
host=$(rustc -vV | sed -n 's/^host: //p')
if ! ls "$(rustc --print target-libdir)"/librustc-*_rt.tsan.a >/dev/null 2>&1; then
  echo "SKIP: this compiler comes without the run-time library of ThreadSanitizer for $host"
  exit 77
fi
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/tsan JETON_STRESS_ROUNDS=20000
export RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer --cfg jeton_tsan"
stress() { cargo test --locked --quiet --release --target "$host" -p jeton-models --no-default-features --test stress -- "$@"; }
for step in s3_relaxed_push s4_relaxed_pop; do
  if output=$(stress --broken "$step" 2>&1); then
    echo "$step is wrong and ThreadSanitizer does not see it"
    exit 1
  fi
  if ! grep -q "WARNING: ThreadSanitizer: data race" <<<"$output"; then
    echo "$output"
    exit 1
  fi
  echo "$step: data race found, as it must be"
done
stress
