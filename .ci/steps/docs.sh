set -euo pipefail
RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace
