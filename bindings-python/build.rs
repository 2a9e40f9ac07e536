//! Says for which kind of Python this is built.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
