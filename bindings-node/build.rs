//! Tells the linker that Node provides Node-API.

fn main() {
    napi_build::setup();
}
