set -euo pipefail
cargo models
