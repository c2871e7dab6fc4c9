//! System kind `recorded` with files on disk.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rageval_runner::{
    model::GoldenSet,
    system::{
        self,
        recorded::RecordedSystem,
        spec::{RecordedSpec, SystemKind, SystemSpec},
    },
};

use crate::{ask, fault, response, run};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems").join(name)
}

fn open(name: &str) -> Result<Box<dyn system::RagSystem>, system::SetupError> {
    let path = fixture(name);
    let root = path.parent().expect("a folder").to_owned();
    let spec = SystemSpec::of_kind(SystemKind::Recorded(RecordedSpec { samples: Some(path) }));
    system::open(&spec, &root, &|_| None, &GoldenSet::default())
}

pub(crate) fn answers_are_found_by_id() {
    let system = open("answers.jsonl").expect("a system");
    run(async {
        let fee = ask(&*system, "fee", "").await.expect("an answer");
        assert_eq!((fee.response.as_str(), fee.retrieved_contexts.len(), fee.refused), ("12 euros.", 2, Some(false)));
        assert_eq!(response(&ask(&*system, "退款", "").await), "30 天内可以退款。");
        assert_eq!(fault(ask(&*system, "failed", "").await).0, "system error");
        assert_eq!(fault(ask(&*system, "new", "").await).0, "no recorded answer");
    });
    assert_eq!(
        system.notices(&GoldenSet::default()),
        ["answers.jsonl: 3 recorded answers have no case: `fee` (line 1), `退款` (line 2), `failed` (line 3)"]
    );
    let spec = SystemSpec::function();
    assert!(system::open(&spec, Path::new("."), &|_| None, &GoldenSet::default()).is_err());
}

/// Files of the shared test data; how many answers each holds, or `None` for one that must be refused.
pub(crate) fn odd_files_are_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/loading");
    if !folder.is_dir() {
        println!("skipped: no shared data");
        return;
    }
    let table = [
        ("bom.jsonl", Some(2)),
        ("crlf.jsonl", Some(2)),
        ("no_final_newline.jsonl", Some(2)),
        ("blank_lines.jsonl", Some(2)),
        ("line_separators.jsonl", Some(1)),
        ("duplicate_ids.jsonl", None),
        ("duplicate_questions.jsonl", Some(2)),
        ("blank_context.jsonl", Some(1)),
        ("null_contexts.jsonl", Some(1)),
        ("string_contexts.jsonl", None),
        ("number_id.jsonl", Some(1)),
        ("empty_answer.jsonl", Some(1)),
        ("truncated_line.jsonl", None),
        ("latin1.jsonl", None),
        ("names.jsonl", Some(7)),
        ("aggregate_row.jsonl", None),
        ("array.json", None),
        ("empty.jsonl", None),
        ("two_mib_line.jsonl", Some(3)),
    ];
    for (name, answers) in table {
        let bytes = fs::read(folder.join(name)).expect("a file");
        let read = RecordedSystem::parse(name, &bytes, &GoldenSet::default());
        let count = read.as_ref().ok().map(|system| system.unused(&GoldenSet::default()).len());
        assert_eq!(count, answers, "{name}: {:?}", read.err());
    }
}
