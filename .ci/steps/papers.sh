set -euo pipefail
cargo papers check
