# The core on a chip without compare-and-swap: as it is, and with the choice that gives it read-modify-writes.
set -euo pipefail
target=thumbv6m-none-eabi
if ! rustc --print target-libdir --target "$target" | xargs test -d; then
  if ! command -v rustup >/dev/null || ! rustup target add "$target"; then
    echo "SKIP: the standard library for $target is not here and rustup cannot add it"
    exit 77
  fi
fi
cargo build --locked -p jeton-core --target "$target"
cargo build --locked -p jeton-core --target "$target" --features portable-atomic/critical-section
cargo build --locked -p jeton-core --target "$target" --features portable-atomic/critical-section,portable-atomic/fallback
