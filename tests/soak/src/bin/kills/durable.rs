//! A file that always contains either the old or the new value, even if its writer is killed during a write.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};

/// Returns the last value written, or `None` if there was none.
pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> io::Result<Option<T>> {
    match fs::read(file) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a value. Returns once both the value and the file's name are on disk.
pub(crate) fn write(file: &Path, value: &impl Serialize) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut new = File::create(&beside)?;
    new.write_all(&serde_json::to_vec(value)?)?;
    new.sync_all()?;
    fs::rename(&beside, file)?;
    File::open(file.parent().unwrap_or(Path::new(".")))?.sync_all()
}
