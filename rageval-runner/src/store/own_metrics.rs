//! What stored runs say of metrics that are not built in, read without the rest of a run.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
};

use serde::{
    Deserialize,
    de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor},
};

use super::runs;
use crate::model::described::DescribedMetric;

/// The metrics of its test binary that a run names, a run being named as [`runs::read`] takes it. Empty where it has none, and where there is no
/// run that can be read: whoever needs the run itself says so.
pub fn of_run(run: &Path) -> BTreeMap<String, DescribedMetric> {
    let file = if run.is_file() && run.file_name().is_none_or(|name| name != "latest") {
        Some(run.to_owned())
    } else {
        runs::folder(run).ok().and_then(|folder| file_in(&folder))
    };
    file.and_then(|file| of_file(&file)).unwrap_or_default()
}

/// The same of the newest runs below a folder of runs, one of each test target.
pub fn of_newest(runs: &Path) -> BTreeMap<String, DescribedMetric> {
    let mut own = BTreeMap::new();
    for target in folders_in(runs) {
        let newest =
            folders_in(&target).into_iter().rev().find_map(|run| file_in(&run).and_then(|file| of_file(&file)));
        own.extend(newest.unwrap_or_default());
    }
    own
}

/// Folders in a folder, by name; those of runs begin with their time.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// The file of a run's folder that holds its manifest.
fn file_in(folder: &Path) -> Option<PathBuf> {
    ["run.json", "manifest.json"].map(|name| folder.join(name)).into_iter().find(|file| file.is_file())
}

/// `None` where the file can't be read as far as its manifest.
fn of_file(file: &Path) -> Option<BTreeMap<String, DescribedMetric>> {
    let mut head = Head { manifest: None };
    let mut json = serde_json::Deserializer::from_reader(BufReader::new(File::open(file).ok()?));
    // Ends with an error once the manifest is there, so that the records behind it are not read.
    json.deserialize_map(&mut head).ok();
    head.manifest.map(|manifest| manifest.own_metrics)
}

#[derive(Deserialize)]
struct OfManifest {
    #[serde(default)]
    own_metrics: BTreeMap<String, DescribedMetric>,
}

/// Reads a run as far as its manifest.
struct Head {
    manifest: Option<OfManifest>,
}

impl<'de> Visitor<'de> for &mut Head {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "manifest" {
                self.manifest = Some(map.next_value()?);
                return Err(A::Error::custom("the rest is not looked at"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = r#"{"about": "one line", "kind": "text", "version": 2, "cutoff": "refused"}"#;

    fn written(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    #[test]
    fn a_run_is_read_as_far_as_its_manifest() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.json");
        written(
            &file,
            &format!(r#"{{"format": "rageval-run", "manifest": {{"own_metrics": {{"brief": {OWN}}}}}, broken"#),
        );
        for named in [folder.path(), &file] {
            assert_eq!(of_run(named)["brief"].version, 2);
        }
    }

    #[test]
    fn the_newest_run_of_each_target_that_can_be_read_tells() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| format!(r#"{{"version": 4, "manifest": {{"own_metrics": {{"{name}": {OWN}}}}}}}"#);
        written(&folder.path().join("a.gate/20260101T000000-1/run.json"), &of("old"));
        written(&folder.path().join("a.gate/20260102T000000-1/manifest.json"), &of("newer"));
        written(&folder.path().join("a.gate/20260103T000000-1/records/one.json"), "{}");
        written(&folder.path().join("b.gate/20250101T000000-1/run.json"), &of("other"));
        written(&folder.path().join("latest"), "a.gate/20260103T000000-1");
        let names: Vec<_> = of_newest(folder.path()).into_keys().collect();
        assert_eq!(names, ["newer", "other"]);
        assert!(of_run(&folder.path().join("latest")).is_empty(), "it holds no manifest");
        assert!(of_run(&folder.path().join("nowhere")).is_empty());
    }
}
