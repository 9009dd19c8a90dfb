set -euo pipefail
cargo clippy --locked --workspace --all-targets --features jeton-benches/icount -- -D warnings
