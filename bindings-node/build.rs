//! Tells the linker that Node brings Node-API.

fn main() {
    napi_build::setup();
}
