//! Writes what a project starts with: files that were not there, and files to which something was added.

use std::{io::Write as _, path::Path};

use super::{StoreError, temporary, write_atomically};

/// Writes a file that must not be there, whole or not at all; makes its folder when missing.
///
/// # Errors
/// A file of this name is there, also one that came a moment ago, or the operating system says no. Nothing is overwritten.
pub fn write_new(path: &Path, text: &str) -> Result<(), StoreError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder).map_err(StoreError::io(folder))?;
    let mut file = temporary(folder).map_err(StoreError::io(path))?;
    file.write_all(text.as_bytes()).map_err(StoreError::io(path))?;
    file.persist_noclobber(path).map_err(|error| StoreError::Io { path: path.to_owned(), source: error.error })?;
    Ok(())
}

/// Puts a new text in the place of one that was read before, whole or not at all.
///
/// # Errors
/// The file holds another text by now, or the operating system says no.
pub fn replace(path: &Path, earlier: &str, text: &str) -> Result<(), StoreError> {
    if std::fs::read_to_string(path).map_err(StoreError::io(path))? != earlier {
        return Err(StoreError::format(path, "it was changed in the meantime; start again"));
    }
    write_atomically(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_there_is_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b.txt");
        write_new(&path, "first").expect("written");
        assert!(write_new(&path, "second").is_err());
        assert_eq!(fs::read_to_string(&path).expect("there"), "first");
        assert_eq!(fs::read_dir(folder.path().join("a")).expect("there").count(), 1, "a temporary file was left");
    }

    #[test]
    fn only_the_text_that_was_read_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.txt");
        fs::write(&path, "theirs").expect("written");
        let error = replace(&path, "old", "new").expect_err("refused").to_string();
        assert!(error.ends_with("it was changed in the meantime; start again"), "{error}");
        replace(&path, "theirs", "new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "new");
    }
}
