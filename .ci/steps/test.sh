# The test command as the README names it.
set -euo pipefail
grep -qx 'cargo test' README.md || { echo "README.md no longer names the command: cargo test"; exit 1; }
cargo test
