set -euo pipefail
command -v valgrind >/dev/null || { echo "SKIP: valgrind is not here and could not be installed"; exit 77; }
cargo icount
