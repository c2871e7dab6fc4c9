//! Texts that leave memory until they are needed again: a temporary file that only grows, read by position.
//!
//! The file has no name, or where the system knows no such files one that goes with the process: nothing that a killed process leaves can be
//! taken for a run, and no two processes share one.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// Texts out of memory.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    file: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Where the next text starts.
    end: u64,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    offset: u64,
    length: usize,
    /// The start of its digest: what comes back is what was written, or nothing.
    digest: [u8; 8],
}

impl Spool {
    /// A spool in this folder, which is made with the first text.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, file: Mutex::default() }
    }

    /// Adds a text. One that can't be written whole leaves no trace.
    ///
    /// # Errors
    /// The file can't be made or written, as on a full disk.
    pub fn add(&self, text: &[u8]) -> io::Result<Span> {
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match &mut *open {
            Some(open) => open,
            None => {
                fs::create_dir_all(&self.folder)?;
                open.insert(Open { file: tempfile::tempfile_in(&self.folder)?, end: 0 })
            }
        };
        open.file.seek(SeekFrom::Start(open.end))?;
        open.file.write_all(text)?;
        let span = Span { offset: open.end, length: text.len(), digest: digest(text) };
        open.end += text.len() as u64;
        Ok(span)
    }

    /// The text of this span.
    ///
    /// # Errors
    /// The file can't be read, or holds another text there.
    pub fn read(&self, span: Span) -> io::Result<Vec<u8>> {
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *open else { return Err(io::Error::other("nothing was written")) };
        let mut text = vec![0; span.length];
        open.file.seek(SeekFrom::Start(span.offset))?;
        open.file.read_exact(&mut text)?;
        if digest(&text) == span.digest { Ok(text) } else { Err(io::Error::other("another text stands there")) }
    }
}

fn digest(text: &[u8]) -> [u8; 8] {
    let mut start = [0; 8];
    start.copy_from_slice(&blake3::hash(text).as_bytes()[..8]);
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_comes_back_as_it_was_in_any_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let spool = Spool::new(folder.path().join("runs"));
        let texts = ["one", "", "退款", "four"];
        let spans = texts.map(|text| spool.add(text.as_bytes()).expect("written"));
        for (text, span) in texts.iter().zip(spans).rev() {
            assert_eq!(spool.read(span).expect("readable"), text.as_bytes());
        }
    }

    #[cfg(unix)]
    #[test]
    fn nothing_of_it_has_a_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let spool = Spool::new(folder.path().to_owned());
        spool.add(b"text").expect("written");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn what_was_changed_or_lost_since_is_not_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let spool = Spool::new(folder.path().to_owned());
        let span = spool.add(b"supported").expect("written");
        let other = Span { digest: digest(b"contradicted"), ..span };
        assert!(spool.read(other).is_err());
        assert!(spool.read(Span { offset: 4, ..span }).is_err(), "beyond its end");
        assert!(Spool::new(folder.path().to_owned()).read(span).is_err(), "of another spool");
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_said() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("file"), "").expect("written");
        assert!(Spool::new(folder.path().join("file")).add(b"text").is_err());
    }
}
