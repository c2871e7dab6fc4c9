//! Run files of each version, and those of none.

use std::borrow::Cow;

use super::{written::write_text, *};
use crate::model::{AskedOf, Confirmation, EmbedRequest, Ending, Reply, Request};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(name)
}

fn parts<'a>(run: &'a Run, records: impl Iterator<Item = io::Result<WholeRecord<'a>>> + 'a) -> Parts<'a> {
    Parts {
        manifest: &run.manifest,
        records: Box::new(records),
        decisions: &run.decisions,
        cases: Box::new(run.cases.iter().map(Cow::Borrowed)),
        background: &run.background,
    }
}

#[test]
fn a_run_of_version_1_is_read() {
    let run = read(&fixture("run-v1.json")).expect("readable");
    assert_eq!((run.version, run.manifest.run_id.as_str(), run.manifest.spent), (1, "1a2b", None));
    let record = &run.records[0];
    let outcome = record.outcomes.values().next().expect("an outcome");
    assert_eq!(outcome.score().map(crate::model::UnitInterval::get), Some(0.5));
    assert_eq!(outcome.detail().and_then(|detail| detail.similarity), None);
    let exchange = &record.transcript.exchanges[0];
    assert_eq!(exchange.of, AskedOf::Policy);
    assert!(matches!(&exchange.request, Request::Judge(request) if !request.logprobs));
    assert_eq!(run.decisions[0].trial, "case::a::a");
}

#[test]
fn a_run_of_version_2_is_read() {
    let run = read(&fixture("run-v2.json")).expect("readable");
    assert_eq!(run.version, 2);
    assert_eq!(run.manifest.spent.and_then(|spent| spent.usd), Some(0.01));
    let record = &run.records[0];
    let outcome = record.outcomes.values().next().expect("an outcome");
    assert_eq!(outcome.detail().and_then(|detail| detail.similarity), Some(0.5));
    let [offline, weighed, embedded] = &record.transcript.exchanges[..] else { panic!("three exchanges") };
    assert_eq!(offline.of, AskedOf::Offline);
    assert!(matches!(&weighed.request, Request::Judge(request) if request.logprobs));
    assert!(matches!(weighed.reply, Reply::Failed { ending: Ending::Budget, .. }));
    assert_eq!(embedded.request, Request::Embed(EmbedRequest::new("q", ["a"])));
    assert!(matches!(embedded.reply, Reply::Failed { ending: Ending::NoKey, .. }));
    assert!(record.readings.is_empty());
}

#[test]
fn a_run_of_version_3_is_read() {
    let path = fixture("run-v3.json");
    let run = read(&path).expect("readable");
    assert_eq!(run.version, 3);
    let record = &run.records[0];
    let (metric, readings) = record.readings.iter().next().expect("further readings");
    assert_eq!((readings.now.len(), readings.baseline.len()), (3, 1));
    assert!(matches!(readings.confirmation, Some(Confirmation::Confirmed { .. })));
    assert_eq!(readings.second.map(|second| second.now.get()), Some(0.5));
    assert_eq!(
        record.settled(metric).and_then(crate::model::Outcome::score).map(crate::model::UnitInterval::get),
        Some(0.5)
    );
    assert!(run.cases.is_empty(), "it says nothing of its cases");
}

#[test]
fn a_run_of_version_4_is_read_and_written_as_it_was() {
    let path = fixture("run-v4.json");
    let run = read(&path).expect("readable");
    assert_eq!(run.decisions[0].findings.len(), 2);
    assert_eq!(run.decisions[1].gate.as_ref().map(|gate| gate.rule.as_str()), Some("mean"));
    let case = &run.cases[0];
    assert_eq!((case.case.as_str(), case.accepted.is_some()), ("a", true));
    let as_text = |record: &Record| Ok(WholeRecord::Text(record_text(record).expect("JSON")));
    let as_record = |record| Ok(WholeRecord::Record(record));
    let as_it_was = fs::read_to_string(path).expect("readable");
    let mut text = Vec::new();
    write_text(&mut text, parts(&run, run.records.iter().map(as_text))).expect("written");
    assert_eq!(String::from_utf8(text).expect("UTF-8"), as_it_was);
    let mut text = Vec::new();
    write_text(&mut text, parts(&run, run.records.iter().map(as_record))).expect("written");
    assert_eq!(String::from_utf8(text).expect("UTF-8"), as_it_was);
}

#[test]
fn a_record_that_is_lost_leaves_no_run_file() {
    let run = read(&fixture("run-v4.json")).expect("readable");
    let folder = tempfile::tempdir().expect("a folder");
    let lost = run.records.iter().map(|_| Err(io::Error::other("the record of a is lost")));
    let error = write(folder.path(), parts(&run, lost)).expect_err("a record is lost").to_string();
    assert!(error.ends_with("run.json: the record of a is lost"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn what_a_newer_version_wrote_is_refused_before_its_fields_are_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let newer = "written by a newer rageval (format 5, this one reads up to 4); update rageval";
    for (name, text, why) in [
        ("run.json", r#"{"format": "rageval-run", "version": 5}"#, newer),
        ("run.json", r#"{"format": "rageval-run", "version": 0}"#, "unknown version Some(0) of the run format"),
        ("manifest.json", r#"{"version": 5}"#, newer),
        ("manifest.json", r#"{"version": 0}"#, "unknown version Some(0) of the run format"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("written");
        let error = read(folder.path()).expect_err(why).to_string();
        assert_eq!(error, format!("{}: {why}", path.display()));
        fs::remove_file(path).expect("removed");
    }
}
