//! Stored replies of models, a judge's and an embedder's: one file each, written whole or not at all.
//!
//! `<folder>/<first two digits of the key>/<key>.json`. Only replies that were read stand here: no error, no header and no key of a
//! provider ever does. Any number of processes may use one folder. What is being written stands in `<folder>/.tmp` until it is whole;
//! what a killed process leaves there is removed by whoever writes the first reply an hour later, or by [`ReplyStore::sweep`].

#[cfg(test)]
mod tests;

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{StoreError, put_in_place, temporary, write_atomically};
use crate::judge::{key::ReplyKey, reply::strict};

/// Where replies are stored below the folder of thresholds.yaml, unless the policy says otherwise.
pub const FOLDER: &str = ".rageval/replies";
/// What `format` says in a stored reply.
const FORMAT: &str = "rageval-reply";
/// Version of the format that this version writes.
const VERSION: u32 = 1;
/// Where files stand while they are written.
const TEMPORARIES: &str = ".tmp";
/// Age after which nobody is still writing a temporary file.
const STALE: Duration = Duration::from_secs(3600);

/// A reply with what it answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredReply {
    /// Always `rageval-reply`.
    pub format: String,
    /// Version of the format.
    pub version: u32,
    /// What it is stored under.
    pub key: String,
    /// What the judge is called, or the embedder.
    pub judge: String,
    /// Its model, as configured.
    pub model: String,
    /// The request's name, `metric.step`; `embed.vector` for the vector of a text.
    pub request: String,
    /// The case for which it was asked first; other cases may use it too.
    pub case: String,
    /// 0 for a first reading.
    pub sample: u32,
    /// 0 for the first try, 1 when it was asked again because the first reply did not fit.
    pub retry: u32,
    /// The day it was stored, `2026-01-31`, in UTC.
    pub stored: String,
    /// The reply, as it was read.
    #[serde(deserialize_with = "strict::value")]
    pub value: Value,
}

impl StoredReply {
    /// A reply of today.
    pub fn new(key: &ReplyKey, value: Value) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            key: key.as_str().to_owned(),
            judge: String::new(),
            model: String::new(),
            request: String::new(),
            case: String::new(),
            sample: 0,
            retry: 0,
            stored: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            value,
        }
    }

    /// Days since it was stored; `None` when its date cannot be read.
    pub fn days_old(&self) -> Option<i64> {
        let stored: jiff::civil::Date = self.stored.parse().ok()?;
        let today = jiff::tz::Offset::UTC.to_datetime(jiff::Timestamp::now()).date();
        Some(i64::from(today.since(stored).ok()?.get_days()))
    }
}

/// A folder of stored replies.
#[derive(Debug, Clone)]
pub struct ReplyStore {
    folder: PathBuf,
    /// The folder is ours alone, and nothing in it is meant for version control.
    own: bool,
    /// This process has made the folder ready for replies, and looked for stale temporary files.
    readied: Arc<AtomicBool>,
}

impl ReplyStore {
    /// The folder that a policy names, which is as public as its owner makes it, or the usual one below `root`, which keeps itself out
    /// of version control. Nothing is made yet.
    pub fn new(root: &Path, named: Option<&Path>) -> Self {
        let folder = root.join(named.unwrap_or(Path::new(FOLDER)));
        Self { folder, own: named.is_none(), readied: Arc::default() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The reply under this key; `None` when there is none.
    ///
    /// # Errors
    /// There is a file that cannot be read, is damaged, is another's, or was written by a newer rageval.
    pub fn get(&self, key: &ReplyKey) -> Result<Option<StoredReply>, StoreError> {
        let path = self.path(key);
        let Some(entry) = read(&path)? else { return Ok(None) };
        if entry.key != key.as_str() {
            return Err(StoreError::format(&path, "it holds the reply of another key"));
        }
        Ok(Some(entry))
    }

    /// Stores a reply in place of the one that stands under its key.
    ///
    /// # Errors
    /// The folder or the file cannot be written, or the entry's key is none.
    pub fn put(&self, entry: &StoredReply) -> Result<(), StoreError> {
        let key = ReplyKey::parse(&entry.key)
            .ok_or_else(|| StoreError::format(&self.folder, format!("`{}` is no key of a reply", entry.key)))?;
        let path = self.path(&key);
        let mut text =
            serde_json::to_string_pretty(entry).map_err(|error| StoreError::format(&path, error.to_string()))?;
        text.push('\n');
        let temporaries = self.folder.join(TEMPORARIES);
        if !self.readied.load(Ordering::Relaxed) {
            self.make_ready(&temporaries)?;
        }
        let file = match temporary(&temporaries) {
            // Somebody removed the folder since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make_ready(&temporaries)?;
                temporary(&temporaries)
            }
            made => made,
        };
        // The disk is not waited for: that costs milliseconds a reply, and what a power failure tears is found out when it is read.
        put_in_place(file.map_err(StoreError::io(&temporaries))?, &path, |file| file.write_all(text.as_bytes()))
    }

    /// All that a first reply needs and others find done.
    fn make_ready(&self, temporaries: &Path) -> Result<(), StoreError> {
        fs::create_dir_all(temporaries).map_err(StoreError::io(temporaries))?;
        let ignore = self.folder.join(".gitignore");
        if self.own && !ignore.exists() {
            write_atomically(
                &ignore,
                b"# Replies of models. To commit them, name a folder in `judge.replies` or `embedder.replies`.\n*\n",
            )?;
        }
        // A reply is kept whatever becomes of old rubbish, which is looked for once.
        if !self.readied.swap(true, Ordering::Relaxed) {
            drop(self.sweep());
        }
        Ok(())
    }

    /// Removes the reply under a key; whether there was one.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, key: &ReplyKey) -> Result<bool, StoreError> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    /// Temporary files that killed processes left: whoever writes one is done within the hour.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn stale(&self) -> Result<Vec<PathBuf>, StoreError> {
        let is_stale = |path: &PathBuf| {
            let modified = fs::metadata(path).and_then(|data| data.modified());
            modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > STALE))
        };
        Ok(entries(&self.folder.join(TEMPORARIES))?.into_iter().filter(is_stale).collect())
    }

    /// Removes the temporary files that killed processes left; how many there were.
    ///
    /// # Errors
    /// One of them cannot be removed.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        let mut swept = 0;
        for path in self.stale()? {
            match fs::remove_file(&path) {
                Ok(()) => swept += 1,
                // Another process was first.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(StoreError::Io { path, source }),
            }
        }
        Ok(swept)
    }

    /// The keys of all stored replies, sorted. Other files of the folder are passed over.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn keys(&self) -> Result<Vec<ReplyKey>, StoreError> {
        let mut keys = Vec::new();
        for folder in entries(&self.folder)?.into_iter().filter(|path| path.is_dir()) {
            for path in entries(&folder)? {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let key = name.strip_suffix(".json").and_then(ReplyKey::parse);
                keys.extend(key.filter(|key| self.path(key) == path));
            }
        }
        keys.sort();
        Ok(keys)
    }

    /// Where the reply under this key is, or would be.
    pub fn path(&self, key: &ReplyKey) -> PathBuf {
        self.folder.join(&key.as_str()[..2]).join(format!("{key}.json"))
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry.map_err(StoreError::io(folder))?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(StoreError::Io { path: folder.to_owned(), source }),
    }
}

fn read(path: &Path) -> Result<Option<StoredReply>, StoreError> {
    let damaged = |why: String| StoreError::format(path, format!("not a readable reply: {why}"));
    let bytes = match fs::metadata(path).and_then(|found| if found.is_file() { fs::read(path) } else { Ok(Vec::new()) })
    {
        // A device or a pipe would be read without an end.
        Ok(bytes) if bytes.is_empty() => return Err(damaged("it is empty, or no file".to_owned())),
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| damaged(error.to_string()))?;
    // One reading where all is well, which is nearly always; else another one, which says what is wrong.
    if let Ok(entry) = serde_json::from_str::<StoredReply>(text)
        && entry.format == FORMAT
        && entry.version == VERSION
    {
        return Ok(Some(entry));
    }
    let value: Value = strict::read(text).map_err(|error| damaged(error.to_string()))?;
    match (value.get("format").and_then(Value::as_str), value.get("version").and_then(Value::as_u64)) {
        (Some(FORMAT), Some(version)) if version == u64::from(VERSION) => {
            serde_json::from_value(value).map(Some).map_err(|error| damaged(error.to_string()))
        }
        (Some(FORMAT), Some(version)) if version > u64::from(VERSION) => {
            let why =
                format!("written by a newer rageval (format {version}, this one reads {VERSION}); update rageval");
            Err(StoreError::format(path, why))
        }
        (Some(FORMAT), _) => Err(damaged("its `version` is none of this format".to_owned())),
        (Some(_) | None, _) => Err(damaged(format!("its `format` is not {FORMAT}"))),
    }
}
