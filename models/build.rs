//! Gives this package, and no other, the back end for step mode, unless a model's back end is chosen.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let model = ["CARGO_CFG_JETON_LOOM", "CARGO_CFG_JETON_SHUTTLE"].iter().any(|cfg| std::env::var_os(cfg).is_some());
    if !model {
        println!("cargo::rustc-cfg=jeton_step");
    }
}
