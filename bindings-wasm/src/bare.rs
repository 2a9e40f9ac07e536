//! Replaces the allocator and panic handler of the standard library, which would take 5 KB of each compressed module.

#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Ends the instance, without a message, which would need all of the formatting code. No call panics.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
