//! Replaces the standard library's allocator and panic handler, which would add 5 KB to each compressed module.
//!
//! A page downloads the module before it generates its first ID, so the module's size matters more than a panic message.

#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Aborts the instance without a message, because a message would pull in all of the formatting code. The handler is only a
/// safeguard: no call of the module panics.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
