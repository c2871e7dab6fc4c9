//! Keeps what people and the judge said of the labelled items: `baselines/calibration.json`.
//!
//! JSON with one line an item, sorted by metric and item, without times, texts and costs. The same calibration gives the same bytes.

use std::{collections::BTreeMap, fmt::Write as _, fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::{StoreError, write_atomically};
use crate::{
    model::{Human, MetricKey, UnitInterval, Verdict, record::each_once, run::JudgeStamp},
    trust::calibration::{Calibration, Judged, Measured, MeasuredItem},
};

/// The file, relative to the folder of the policy.
pub const FILE: &str = "baselines/calibration.json";
/// What `format` says in it.
pub const FORMAT: &str = "rageval-calibration";
/// Version of the file that this version writes.
pub const VERSION: u32 = 1;

/// What to do with a file that is broken.
const AGAIN: &str = "restore it, or make it anew: cargo rageval calibrate";

/// Reads a calibration; `None` where there is no such file.
pub fn read_if_present(path: &Path) -> Result<Option<Calibration>, StoreError> {
    match read(path) {
        Ok(calibration) => Ok(Some(calibration)),
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a calibration.
pub fn read(path: &Path) -> Result<Calibration, StoreError> {
    let text = fs::read_to_string(path).map_err(StoreError::io(path))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    check_version(path, text)?;
    let file: FileRead = serde_json::from_str(text).map_err(|error| unreadable(path, &error))?;
    let mut metrics = BTreeMap::new();
    for (metric, mut of_metric) in file.metrics {
        let mut items: Vec<MeasuredItem> = Vec::with_capacity(of_metric.items.len());
        for line in std::mem::take(&mut of_metric.items) {
            let item = line.checked(path, &metric)?;
            if let Some(before) = items.last()
                && before.item >= item.item
            {
                let why = format!(
                    "{metric}: item `{}` does not stand behind `{}`, once and in order, perhaps from a merge; {AGAIN}",
                    item.item, before.item
                );
                return Err(StoreError::format(path, why));
            }
            items.push(item);
        }
        let MeasuredRead { judge, labels, golden_set_version: set_version, items: _ } = of_metric;
        metrics.insert(metric, Measured { judge, labels, set_version, items });
    }
    Ok(Calibration { metrics })
}

/// Writes a calibration, whole or not at all.
pub fn write(path: &Path, calibration: &Calibration) -> Result<(), StoreError> {
    let text = to_text(calibration).map_err(|error| StoreError::format(path, error.to_string()))?;
    write_atomically(path, text.as_bytes())
}

/// The file, as version 1 lays it out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileRead {
    #[expect(dead_code, reason = "checked before; named here so that other unknown keys are refused")]
    format: String,
    #[expect(dead_code, reason = "checked before; named here so that other unknown keys are refused")]
    version: u32,
    #[serde(deserialize_with = "each_once")]
    metrics: BTreeMap<MetricKey, MeasuredRead>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredRead {
    judge: JudgeStamp,
    labels: String,
    golden_set_version: Option<String>,
    items: Vec<ItemLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ItemLine {
    item: String,
    language: String,
    #[serde(deserialize_with = "each_once")]
    people: BTreeMap<String, Said>,
    judge: JudgeSaid,
    weight: f64,
    length: usize,
}

/// What a person said: a number is a score, a word a verdict.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Said {
    Score(UnitInterval),
    Verdict(Verdict),
}

/// What the judge said: a number is a score.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum JudgeSaid {
    Score(UnitInterval),
    Nothing(NoScore),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NoScore {
    NotApplicable(String),
    Unmeasured(String),
}

impl ItemLine {
    fn of(item: &MeasuredItem) -> Self {
        let said = |human: &Human| match human {
            Human::Score(score) => Said::Score(*score),
            Human::Verdict(verdict) => Said::Verdict(*verdict),
        };
        Self {
            item: item.item.clone(),
            language: item.language.clone(),
            people: item.people.iter().map(|(who, human)| (who.clone(), said(human))).collect(),
            judge: match &item.judge {
                Judged::Scored(score) => JudgeSaid::Score(*score),
                Judged::NotApplicable(why) => JudgeSaid::Nothing(NoScore::NotApplicable(why.clone())),
                Judged::Unmeasured(why) => JudgeSaid::Nothing(NoScore::Unmeasured(why.clone())),
            },
            weight: item.weight,
            length: item.length,
        }
    }

    fn checked(self, path: &Path, metric: &MetricKey) -> Result<MeasuredItem, StoreError> {
        let Self { item, language, people, judge, weight, length } = self;
        if people.is_empty() {
            let why = format!("{metric}: nobody said anything of item `{item}`; {AGAIN}");
            return Err(StoreError::format(path, why));
        }
        if !(weight.is_finite() && weight > 0.0) {
            let why = format!("{metric}: the weight of item `{item}` is {weight}, which is no number above 0; {AGAIN}");
            return Err(StoreError::format(path, why));
        }
        let human = |said| match said {
            Said::Score(score) => Human::Score(score),
            Said::Verdict(verdict) => Human::Verdict(verdict),
        };
        Ok(MeasuredItem {
            item,
            language,
            people: people.into_iter().map(|(who, said)| (who, human(said))).collect(),
            judge: match judge {
                JudgeSaid::Score(score) => Judged::Scored(score),
                JudgeSaid::Nothing(NoScore::NotApplicable(why)) => Judged::NotApplicable(why),
                JudgeSaid::Nothing(NoScore::Unmeasured(why)) => Judged::Unmeasured(why),
            },
            weight,
            length,
        })
    }
}

fn unreadable(path: &Path, error: &serde_json::Error) -> StoreError {
    StoreError::format(path, format!("not a readable calibration: {error}; {AGAIN}"))
}

/// Refuses what is no calibration, and what a newer version wrote, before its fields are looked at.
fn check_version(path: &Path, text: &str) -> Result<(), StoreError> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<String>,
        version: Option<u32>,
    }
    let head: Head = serde_json::from_str(text).map_err(|error| unreadable(path, &error))?;
    let why = match (head.format.as_deref(), head.version) {
        (Some(FORMAT), Some(VERSION)) => return Ok(()),
        (Some(FORMAT), Some(version)) if version > VERSION => {
            format!("written by a newer rageval (format {version}, this one reads up to {VERSION}); update rageval")
        }
        (Some(FORMAT), Some(version)) => format!("there is no version {version} of the format of calibrations"),
        (Some(FORMAT), None) => "it states no `version`".to_owned(),
        (Some(format), _) => format!("its `format` says `{format}`, a calibration says `{FORMAT}`"),
        (None, _) => format!("it states no `format`, a calibration says `{FORMAT}`"),
    };
    Err(StoreError::format(path, why))
}

/// Valid JSON with one line an item.
fn to_text(calibration: &Calibration) -> serde_json::Result<String> {
    let mut text = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\n\"metrics\":{{");
    for (index, (metric, measured)) in calibration.metrics.iter().enumerate() {
        let Measured { judge, labels, set_version, items } = measured;
        let comma = if index == 0 { "" } else { "," };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}\n{}:{{\"judge\":{},\"labels\":{},\"golden_set_version\":{},\n\"items\":[",
            serde_json::to_string(metric)?,
            serde_json::to_string(judge)?,
            serde_json::to_string(labels)?,
            serde_json::to_string(set_version)?,
        );
        let mut lines: Vec<&MeasuredItem> = items.iter().collect();
        lines.sort_by(|a, b| a.item.cmp(&b.item));
        for (index, item) in lines.into_iter().enumerate() {
            text.push_str(if index == 0 { "\n" } else { ",\n" });
            text.push_str(&serde_json::to_string(&ItemLine::of(item))?);
        }
        text.push_str("\n]}");
    }
    text.push_str("\n}}\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibration() -> Calibration {
        let unit = |value| UnitInterval::new(value).expect("a score");
        let item = |id: &str, people: &[(&str, Human)], judge: Judged| MeasuredItem {
            item: id.to_owned(),
            language: "pt".to_owned(),
            people: people.iter().map(|(who, human)| ((*who).to_owned(), *human)).collect(),
            judge,
            weight: 2.5,
            length: 12,
        };
        let score = |value| Human::Score(unit(value));
        let items = vec![
            item("a", &[("ana", score(0.25)), ("bo", score(1.0))], Judged::Scored(unit(0.1 + 0.2))),
            item("b", &[("ana", Human::Verdict(Verdict::Inferred))], Judged::NotApplicable("it declines".to_owned())),
            item("c", &[("ana", Human::Verdict(Verdict::Supported))], Judged::Unmeasured("time-out".to_owned())),
        ];
        let judge = JudgeStamp { provider: "offline".into(), model: "1".into(), fingerprint: "f".into() };
        let measured = Measured { judge, labels: "d".to_owned(), set_version: Some("1.2.0".to_owned()), items };
        let key = |name| MetricKey::parse(name).expect("a metric");
        let other = Measured { set_version: None, items: Vec::new(), ..measured.clone() };
        Calibration { metrics: [(key("faithfulness"), measured), (key("rubric/kind"), other)].into() }
    }

    #[test]
    fn what_is_written_is_read_and_gives_the_same_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        assert_eq!(read_if_present(&path).expect("no file is no error"), None);
        write(&path, &calibration()).expect("written");
        let first = fs::read_to_string(&path).expect("text");
        let back = read(&path).expect("read");
        assert_eq!(back, calibration());
        write(&path, &back).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("text"), first);
        assert_eq!(first.lines().count(), 12, "{first}");
    }

    #[test]
    fn what_is_no_calibration_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("c.json");
        let good = to_text(&calibration()).expect("text");
        let check = |text: String, expected: &str| {
            fs::write(&path, text).expect("written");
            let error = read(&path).expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(good.replace("\"version\":1", "\"version\":2"), "written by a newer rageval");
        check(good.replace("rageval-calibration", "rageval-run"), "a calibration says `rageval-calibration`");
        check(good.replace("\"item\":\"b\"", "\"item\":\"a\""), "item `a` does not stand behind `a`");
        check(good.replace("\"bo\"", "\"ana\""), "`ana` stands twice");
        check(good.replace("\"weight\":2.5", "\"weight\":0"), "the weight of item `a` is 0");
        check(good.replace("0.25", "1.25"), "not a readable calibration");
        check(good.replace("{\"ana\":\"inferred\"}", "{}"), "nobody said anything of item `b`");
        check(good.replace("\"length\":12", "\"size\":12"), "unknown field `size`");
    }
}
