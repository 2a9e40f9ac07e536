//! Lets the linker leave Node-API's functions undefined, because Node.js provides them when it loads the addon.

fn main() {
    napi_build::setup();
}
