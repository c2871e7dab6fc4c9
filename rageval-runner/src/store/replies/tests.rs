//! What is stored, what is refused, and what is left alone.

use std::{collections::BTreeSet, thread, time::SystemTime};

use serde_json::json;

use super::*;

const KEY: &str = "0a5c8f0a5c8f0a5c8f0a5c8f0a5c8f0a5c8f0a5c8f0a5c8f0a5c8f0a5c8f0a5c";

fn key(first: char) -> ReplyKey {
    ReplyKey::parse(&format!("{first}{}", &KEY[1..])).expect("a key")
}

fn entry(key: &ReplyKey, value: Value) -> StoredReply {
    StoredReply {
        judge: "http://127.0.0.1:1/v1".to_owned(),
        model: "m-2026-01-01".to_owned(),
        request: "faithfulness.verdicts".to_owned(),
        case: "refunds-1".to_owned(),
        retry: 1,
        ..StoredReply::new(key, value)
    }
}

struct Fixture {
    root: tempfile::TempDir,
    store: ReplyStore,
}

fn fixture(named: Option<&Path>) -> Fixture {
    let root = tempfile::tempdir().expect("a folder");
    let store = ReplyStore::new(root.path(), named);
    Fixture { root, store }
}

/// All files below a folder, relative to it, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for path in entries(&next).expect("readable") {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).expect("below").to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_reply_comes_back_as_it_was() {
    let Fixture { store, root: _root } = fixture(None);
    assert_eq!(store.get(&key('0')).expect("readable"), None);
    // Numbers, scripts, line ends and order as they came: a decision must not hang on where a reply was read.
    let value = json!({"score": 0.1, "big": 12_345_678_901_u64, "third": 1.0 / 3.0, "claim": "é 退款 \"x\"\n\u{2028}"});
    let stored = entry(&key('0'), value);
    store.put(&stored).expect("stored");
    assert_eq!(store.get(&key('0')).expect("readable"), Some(stored.clone()));
    assert_eq!(stored.days_old(), Some(0));
    assert_eq!(StoredReply { stored: "yesterday".to_owned(), ..stored }.days_old(), None);
}

#[test]
fn a_later_reply_takes_the_place_of_an_earlier_one_and_nothing_else_is_left() {
    let Fixture { root, store } = fixture(Some(Path::new("replies")));
    for n in 0..3 {
        store.put(&entry(&key('0'), json!(n))).expect("stored");
    }
    assert_eq!(store.get(&key('0')).expect("readable").expect("stored").value, json!(2));
    assert_eq!(files(root.path()), [format!("replies/0a/{KEY}.json")]);
    assert!(store.remove(&key('0')).expect("removed"));
    assert!(!store.remove(&key('0')).expect("nothing to remove"));
    assert_eq!(store.get(&key('0')).expect("readable"), None);
}

#[test]
fn the_usual_folder_alone_keeps_itself_out_of_version_control() {
    let Fixture { root, store } = fixture(None);
    store.put(&entry(&key('0'), json!(1))).expect("stored");
    assert_eq!(
        files(root.path()),
        [".rageval/replies/.gitignore".to_owned(), format!(".rageval/replies/0a/{KEY}.json")]
    );
    // What a person wrote there stays.
    let ignore = store.folder().join(".gitignore");
    fs::write(&ignore, "mine").expect("written");
    store.put(&entry(&key('0'), json!(1))).expect("stored");
    assert_eq!(fs::read_to_string(&ignore).expect("there"), "mine");
    // Who removes the folder under a run gets it back whole.
    fs::remove_dir_all(store.folder()).expect("removed");
    store.put(&entry(&key('1'), json!(1))).expect("stored");
    assert!(ignore.exists());
    fs::remove_dir_all(store.path(&key('1')).parent().expect("a folder")).expect("removed");
    store.put(&entry(&key('1'), json!(1))).expect("stored");
}

#[test]
fn what_cannot_be_read_says_why_and_can_be_replaced() {
    let Fixture { store, root: _root } = fixture(None);
    let good = entry(&key('0'), json!({"a": 1}));
    store.put(&good).expect("stored");
    let path = store.path(&key('0'));
    let text = fs::read_to_string(&path).expect("there");
    let other = text.replace(KEY, key('1').as_str());
    let twice = text.replacen("\"value\":", "\"value\": 1, \"value\":", 1);
    let within = text.replacen("\"a\": 1", "\"a\": 1, \"a\": 1", 1);
    let rows: [(&str, &[u8]); 12] = [
        ("not a readable reply: the key `a` stands twice", within.as_bytes()),
        ("not a readable reply: it is empty, or no file", b""),
        ("not a readable reply: the key `value` stands twice", twice.as_bytes()),
        ("not a readable reply: EOF", &text.as_bytes()[..text.len() / 2]),
        ("not a readable reply: expected value", b"<<<<<<< HEAD\n"),
        ("not a readable reply: invalid utf-8", &[0xff, 0xfe, 0]),
        ("not a readable reply: its `format` is not rageval-reply", b"{}"),
        ("not a readable reply: its `format` is not rageval-reply", b"{\"format\": \"rageval-run\", \"version\": 1}"),
        ("not a readable reply: its `version` is none", b"{\"format\": \"rageval-reply\", \"version\": \"1\"}"),
        ("not a readable reply: missing field", b"{\"format\": \"rageval-reply\", \"version\": 1}"),
        (
            "written by a newer rageval (format 2, this one reads 1); update",
            b"{\"format\": \"rageval-reply\", \"version\": 2}",
        ),
        ("it holds the reply of another key", other.as_bytes()),
    ];
    for (why, bytes) in rows {
        fs::write(&path, bytes).expect("written");
        let error = store.get(&key('0')).expect_err(why).to_string();
        assert!(error.starts_with(&format!("{}: {why}", path.display())), "{why}: {error}");
        store.put(&good).expect("replaced");
        assert_eq!(store.get(&key('0')).expect("readable").as_ref(), Some(&good));
    }
}

#[test]
fn a_reply_of_version_1_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats/reply-v1.json");
    let stored = read(&path).expect("readable").expect("there");
    let value = json!({"sentences": [{"n": 1, "claims": [{"claim": "Refunds take 3 days.", "verdict": "supported", "context": 1}]}]});
    let expected = StoredReply {
        judge: "http://127.0.0.1:8081/v1".to_owned(),
        model: "qwen2.5-1.5b-q4".to_owned(),
        retry: 0,
        stored: "2026-11-30".to_owned(),
        ..entry(&key('0'), value)
    };
    assert_eq!(stored, expected);
}

#[test]
fn files_of_others_are_neither_listed_nor_swept() {
    let Fixture { root, store } = fixture(Some(Path::new("replies")));
    assert_eq!(store.keys().expect("no folder is no reply"), []);
    store.put(&entry(&key('1'), json!(1))).expect("stored");
    store.put(&entry(&key('0'), json!(1))).expect("stored");
    let others = ["README.md", "0a/notes.txt", "0a/short.json", "tmpfile", &format!("ff/{KEY}.json")];
    for name in others {
        let path = store.folder().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "mine").expect("written");
    }
    assert_eq!(store.keys().expect("listed"), [key('0'), key('1')]);
    assert_eq!(store.sweep().expect("swept"), 0);
    assert_eq!(files(root.path()).len(), 2 + others.len());
}

#[test]
fn temporary_files_of_killed_processes_go_after_an_hour() {
    let Fixture { root, store } = fixture(Some(Path::new("replies")));
    let left = |name: &str, hours: u64| {
        let path = store.folder().join(TEMPORARIES).join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let file = fs::File::create(&path).expect("made");
        let age = Duration::from_secs(hours * 3600 + 60);
        file.set_modified(SystemTime::now().checked_sub(age).expect("a time")).expect("aged");
    };
    left("young", 0);
    left("old", 1);
    assert_eq!(store.stale().expect("listed").len(), 1);
    // The first reply that a process writes takes them away.
    store.put(&entry(&key('0'), json!(1))).expect("stored");
    assert_eq!(files(root.path()), ["replies/.tmp/young".to_owned(), format!("replies/0a/{KEY}.json")]);
    left("later", 1);
    assert_eq!(store.sweep().expect("swept"), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_no_panic() {
    let Fixture { root, store } = fixture(Some(Path::new("replies")));
    fs::write(root.path().join("replies"), "a file in its place").expect("written");
    let stored = entry(&key('0'), json!(1));
    assert!(store.put(&stored).is_err());
    assert!(store.get(&key('0')).is_err());
    assert!(store.keys().is_err());
    let broken = StoredReply { key: "é".to_owned(), ..stored };
    let other = fixture(None);
    assert!(other.store.put(&broken).expect_err("no key").to_string().ends_with("`é` is no key of a reply"));
    assert_eq!(files(other.root.path()), <[String; 0]>::default());
}

#[test]
fn many_writers_of_one_key_leave_one_whole_reply() {
    let Fixture { root, store } = fixture(Some(Path::new("replies")));
    let long = "x".repeat(50_000);
    thread::scope(|scope| {
        for writer in 0..8 {
            let (root, long) = (root.path(), &long);
            scope.spawn(move || {
                // A store of its own, as another process has.
                let store = ReplyStore::new(root, Some(Path::new("replies")));
                for _ in 0..10 {
                    store.put(&entry(&key('0'), json!([writer, long]))).expect("stored");
                    let read = store.get(&key('0')).expect("whole").expect("there");
                    assert_eq!(read.value[1], **long);
                }
            });
        }
    });
    let writers: BTreeSet<u64> = (0..8).collect();
    let last = store.get(&key('0')).expect("whole").expect("there");
    assert!(writers.contains(&last.value[0].as_u64().expect("a number")));
    assert_eq!(files(root.path()), [format!("replies/0a/{KEY}.json")]);
}
