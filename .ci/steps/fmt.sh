cargo fmt --all --check
