//! Texts that leave memory until they are needed again: a temporary file that only grows, read by position.
//!
//! The file has no name, or where the system knows no such files one that goes with the process: nothing that a killed process leaves can be
//! taken for a run, and no two processes share one.

use std::{
    fs::{self, File},
    io::{self, Cursor, Read as _, Seek as _, SeekFrom, Write as _},
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
enum Open {
    /// The file, and where the next text starts in it.
    File(File, u64),
    /// What was in the file, which was in the way.
    Recalled(Vec<u8>),
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
                open.insert(Open::File(tempfile::tempfile_in(&self.folder)?, 0))
            }
        };
        let offset = match open {
            Open::File(file, end) => {
                file.seek(SeekFrom::Start(*end))?;
                file.write_all(text)?;
                let offset = *end;
                *end += text.len() as u64;
                offset
            }
            Open::Recalled(texts) => {
                let offset = texts.len() as u64;
                texts.extend_from_slice(text);
                offset
            }
        };
        Ok(Span { offset, length: text.len(), digest: digest(text) })
    }

    /// The text of this span.
    ///
    /// # Errors
    /// The file can't be read, or holds another text there.
    pub fn read(&self, span: Span) -> io::Result<Vec<u8>> {
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *open else { return Err(io::Error::other("nothing was written")) };
        let mut text = vec![0; span.length];
        match open {
            Open::File(file, _) => {
                file.seek(SeekFrom::Start(span.offset))?;
                file.read_exact(&mut text)?;
            }
            Open::Recalled(texts) => {
                let mut from = Cursor::new(texts);
                from.set_position(span.offset);
                from.read_exact(&mut text)?;
            }
        }
        if digest(&text) == span.digest { Ok(text) } else { Err(io::Error::other("another text stands there")) }
    }

    /// Takes all texts back into memory, so that their place on the disk is free. Returns whether any was free to gain.
    ///
    /// # Errors
    /// The file can't be read; then it stays.
    pub fn recall(&self) -> io::Result<bool> {
        let mut open = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Open::File(file, end)) = &mut *open else { return Ok(false) };
        let mut texts = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        file.take(*end).read_to_end(&mut texts)?;
        *open = Some(Open::Recalled(texts));
        Ok(true)
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

    #[test]
    fn texts_are_the_same_after_they_were_taken_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let spool = Spool::new(folder.path().to_owned());
        assert!(!spool.recall().expect("nothing to take"));
        let before = ["one", "退款"].map(|text| (text, spool.add(text.as_bytes()).expect("written")));
        assert!(spool.recall().expect("readable"));
        assert!(!spool.recall().expect("nothing more"));
        let after = ("three", spool.add(b"three").expect("in memory"));
        for (text, span) in before.into_iter().chain([after]) {
            assert_eq!(spool.read(span).expect("there"), text.as_bytes());
        }
        let beyond = Span { offset: 100, ..after.1 };
        assert!(spool.read(beyond).is_err());
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
