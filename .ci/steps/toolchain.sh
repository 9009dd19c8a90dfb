# The compiler that rust-toolchain.toml names, with its components, and valgrind.
set -euo pipefail
channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if command -v rustup >/dev/null && ! rustup run "$channel" rustc -V >/dev/null 2>&1; then
  rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy
fi
rustc -V
cargo fmt --version
cargo clippy --version
if ! command -v valgrind >/dev/null; then
  (apt-get update -qq && apt-get install -y -qq valgrind) || echo "valgrind is missing and could not be installed"
fi
valgrind --version || true
