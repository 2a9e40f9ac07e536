//! The program `idstorm`, which runs an ID generator through storms. See `docs/project/storm.md`.

#[cfg(target_os = "linux")]
mod options;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<std::process::ExitCode> {
    options::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("idstorm needs Linux");
    std::process::exit(2);
}
