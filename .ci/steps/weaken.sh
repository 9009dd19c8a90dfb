set -euo pipefail
cargo weaken
