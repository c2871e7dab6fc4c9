//! Writes files for other programs, such as cases in their formats.

use std::path::Path;

use super::{StoreError, write_atomically};

/// What to do with a file that stands there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Leave it, and say so.
    Keep,
    /// Put the new one in its place.
    Replace,
}

/// Writes each file whole or not at all. None is written where one of them stands there already and must be kept.
///
/// # Errors
/// A file that is there, or that can't be written.
pub fn write(files: &[(&Path, &[u8])], existing: Existing) -> Result<(), StoreError> {
    if existing == Existing::Keep
        && let Some((path, _)) = files.iter().find(|(path, _)| path.exists())
    {
        return Err(StoreError::format(path, "it is there already; name another, or pass --overwrite"));
    }
    for (path, bytes) in files {
        write_atomically(path, bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_over_unless_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        std::fs::write(&old, "old").expect("written");
        let files: [(&Path, &[u8]); 2] = [(&new, b"1"), (&old, b"2")];
        assert!(write(&files, Existing::Keep).expect_err("it is there").to_string().contains("--overwrite"));
        assert!(!new.exists());
        write(&files, Existing::Replace).expect("written");
        assert_eq!(std::fs::read(&old).expect("read"), b"2");
    }
}
