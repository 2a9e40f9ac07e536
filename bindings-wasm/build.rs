//! Exports the stack pointer. The package restores the stack pointer if JavaScript abandons a call before it returns.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--export=__stack_pointer");
    }
}
