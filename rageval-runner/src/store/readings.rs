//! Further readings in the folder of a run of many processes: each had once, by whoever comes first, and read by all others.
//!
//! `readings/` holds one file for a case and a metric, beside the records, which stay as they were first written; [`join`] puts them together.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    StoreError,
    runs::{RunFolder, hash, read_all, read_json, record_key, write_json},
    slots::{Backoff, try_lock, try_lock_to_read},
};
use crate::model::{CaseId, Confirmation, GoldenCase, Heard, MetricKey, Readings, Record};

/// The further readings of one run's folder.
#[derive(Debug, Clone)]
pub struct FurtherReadings {
    folder: PathBuf,
}

/// What is read again, and so in which file it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A suspect is confirmed or cleared.
    Suspect,
    /// The drop of a mean is looked at once more.
    Mean,
}

/// What was confirmed so far by all processes of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confirmed {
    /// Suspects that were confirmed as failing cases.
    pub cases: usize,
    /// Requests that their readings took.
    pub requests: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct OfMetric {
    case: CaseId,
    metric: MetricKey,
    readings: Readings,
}

impl RunFolder {
    /// The further readings of this run.
    pub fn further_readings(&self) -> FurtherReadings {
        FurtherReadings { folder: self.path() }
    }
}

impl FurtherReadings {
    /// The readings of a metric of a case, where some process has had them already.
    ///
    /// # Errors
    /// Their file cannot be read.
    pub fn find(
        &self,
        case: &GoldenCase,
        metric: &MetricKey,
        purpose: Purpose,
    ) -> Result<Option<Readings>, StoreError> {
        let file: Option<OfMetric> = read_json(&self.path(case, metric, purpose))?;
        Ok(file.map(|file| file.readings))
    }

    /// The same, else had under a lock of the kernel and written, so that nothing is read again twice.
    ///
    /// # Errors
    /// The folder of the run cannot be used.
    pub async fn find_or<F>(
        &self,
        case: &GoldenCase,
        metric: &MetricKey,
        purpose: Purpose,
        read: F,
    ) -> Result<Readings, StoreError>
    where
        F: AsyncFnOnce() -> Result<Readings, StoreError>,
    {
        let path = self.path(case, metric, purpose);
        let lock = path.with_extension("lock");
        let mut pause = Backoff::default();
        loop {
            if let Some(readings) = self.find(case, metric, purpose)? {
                return Ok(readings);
            }
            // Held until the end of this turn; the kernel frees it when this process dies.
            let held = try_lock(&lock).map_err(StoreError::io(&lock))?;
            if held.is_some() {
                if let Some(readings) = self.find(case, metric, purpose)? {
                    return Ok(readings);
                }
                let readings = read().await?;
                let file = OfMetric { case: case.id.clone(), metric: metric.clone(), readings };
                write_json(&path, &file)?;
                return Ok(file.readings);
            }
            pause.wait().await;
        }
    }

    /// What all processes of the run confirmed so far.
    ///
    /// # Errors
    /// The counts cannot be read.
    pub async fn confirmed(&self) -> Result<Confirmed, StoreError> {
        self.add(Confirmed::default()).await
    }

    /// Adds to what the run confirmed; gives the sum.
    ///
    /// # Errors
    /// The counts cannot be kept.
    pub async fn add(&self, more: Confirmed) -> Result<Confirmed, StoreError> {
        let path = self.folder.join("slots").join("confirmed");
        let mut pause = Backoff::default();
        loop {
            match try_lock_to_read(&path).map_err(StoreError::io(&path))? {
                Some(file) => return add_to(file, &path, more),
                None => pause.wait().await,
            }
        }
    }

    fn path(&self, case: &GoldenCase, metric: &MetricKey, purpose: Purpose) -> PathBuf {
        let purpose = match purpose {
            Purpose::Suspect => "suspect",
            Purpose::Mean => "mean",
        };
        let name = hash(&format!("{}\n{metric}\n{purpose}", record_key(case)));
        self.folder.join("readings").join(format!("{name}.json"))
    }
}

fn add_to(mut file: File, path: &Path, more: Confirmed) -> Result<Confirmed, StoreError> {
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(StoreError::io(path))?;
    let before = if text.is_empty() { Some(Confirmed::default()) } else { Confirmed::from_line(&text) };
    let Confirmed { cases, requests } = before
        .ok_or_else(|| StoreError::format(path, "what the run confirmed so far cannot be read; start another run"))?;
    let sum = Confirmed { cases: cases + more.cases, requests: requests + more.requests };
    if more != Confirmed::default() {
        // The same length every time, so that one write replaces all.
        let write = |file: &mut File| -> io::Result<()> {
            file.rewind()?;
            file.write_all(sum.line().as_bytes())
        };
        write(&mut file).map_err(StoreError::io(path))?;
    }
    Ok(sum)
}

impl Confirmed {
    fn line(self) -> String {
        format!("{:>10} {:>10}\n", self.cases, self.requests)
    }

    fn from_line(line: &str) -> Option<Self> {
        let mut numbers = line.strip_suffix('\n')?.split_whitespace().map(|word| word.parse().ok());
        Some(Self { cases: numbers.next()??, requests: numbers.next()?? })
    }
}

/// Puts the further readings of a run's folder into its records.
pub(super) fn join(folder: &Path, records: &mut [Record]) -> Result<(), StoreError> {
    let files: Vec<OfMetric> = read_all(&folder.join("readings"))?;
    let mut of_case: BTreeMap<CaseId, Vec<(MetricKey, Readings)>> = BTreeMap::new();
    for OfMetric { case, metric, readings } in files {
        of_case.entry(case).or_default().push((metric, readings));
    }
    for record in records {
        for (metric, readings) in of_case.remove(&record.case).unwrap_or_default() {
            record.add_readings(metric, readings);
        }
    }
    Ok(())
}

/// Takes away what an interrupted run is not to go on with: readings of cases that it did not keep, whose answers may be other ones the next
/// time, and readings of which a call came to nothing, since what interrupts a run breaks the calls under way first.
pub(super) fn keep_whole(folder: &Path, kept: &BTreeSet<CaseId>) -> Result<(), StoreError> {
    let entries = fs::read_dir(folder.join("readings")).into_iter().flatten().filter_map(Result::ok);
    for path in entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "json")) {
        let file: Option<OfMetric> = read_json(&path).unwrap_or_default();
        if !file.is_some_and(|file| kept.contains(&file.case) && is_whole(&file.readings)) {
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
    }
    Ok(())
}

fn is_whole(readings: &Readings) -> bool {
    let came_to_nothing = |heard: &Heard| match heard {
        Heard::Nothing { .. } => true,
        Heard::Verdicts { .. } | Heard::Score { .. } => false,
    };
    let is_left = match readings.confirmation {
        Some(Confirmation::NotConfirmed { .. }) => true,
        Some(Confirmation::Cleared { .. } | Confirmation::Confirmed { .. }) | None => false,
    };
    let mut all = readings.now.iter().chain(&readings.baseline);
    !is_left && !readings.second_failed && !all.any(came_to_nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gate::fixture::{golden, id, key, unit},
        model::{Heard, SecondReading, Taken, Transcript, Unmeasured},
    };

    fn heard(score: f64) -> Readings {
        Readings { now: vec![Heard::Score { score: unit(score) }], ..Readings::default() }
    }

    #[tokio::test]
    async fn what_one_process_read_is_read_by_the_others_and_joined_to_the_records() {
        let folder = tempfile::tempdir().expect("a folder");
        let further = FurtherReadings { folder: folder.path().to_owned() };
        let (case, metric) = (golden("a", 1), key("faithfulness"));
        let second = SecondReading { before: unit(1.0), now: unit(0.5) };
        let of_mean = Readings { second: Some(second), ..Readings::default() };
        assert_eq!(further.find(&case, &metric, Purpose::Suspect).expect("no file"), None);
        for (purpose, readings) in [(Purpose::Suspect, heard(0.5)), (Purpose::Mean, of_mean.clone())] {
            let had = further.find_or(&case, &metric, purpose, async || Ok(readings.clone())).await.expect("written");
            assert_eq!(had, readings);
            let again = further.find_or(&case, &metric, purpose, async || panic!("had already")).await.expect("read");
            assert_eq!(again, readings);
        }
        let failed = Taken::Failed(Unmeasured::new("a", "b"));
        let new =
            |name: &str| Record::new(id(name), String::new(), failed.clone(), BTreeMap::new(), Transcript::default());
        let mut records = [new("a"), new("b")];
        join(folder.path(), &mut records).expect("joined");
        assert_eq!(records[0].readings[&metric], Readings { second: Some(second), ..heard(0.5) });
        assert!(records[1].readings.is_empty());
    }

    #[tokio::test]
    async fn who_goes_on_finds_no_reading_of_another_answer_and_none_that_came_to_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let further = FurtherReadings { folder: folder.path().to_owned() };
        let metric = key("faithfulness");
        let broken = Readings { now: vec![Heard::Nothing { why: "cut off".to_owned() }], ..heard(0.5) };
        let left = Confirmation::NotConfirmed { why: "the budget is spent".to_owned() };
        let left = Readings { confirmation: Some(left), ..Readings::default() };
        let cases = ["whole", "broken", "left", "gone"].map(|name| golden(name, 1));
        for (case, readings) in cases.iter().zip([heard(0.5), broken, left, heard(0.5)]) {
            further.find_or(case, &metric, Purpose::Suspect, async || Ok(readings)).await.expect("written");
        }
        keep_whole(folder.path(), &["whole", "broken", "left"].map(id).into()).expect("looked through");
        let found = cases.map(|case| further.find(&case, &metric, Purpose::Suspect).expect("readable"));
        assert_eq!(found, [Some(heard(0.5)), None, None, None]);
        keep_whole(&folder.path().join("nothing"), &BTreeSet::new()).expect("no folder");
    }

    #[tokio::test]
    async fn the_counts_of_all_processes_add_up_and_torn_ones_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let further = FurtherReadings { folder: folder.path().to_owned() };
        assert_eq!(further.confirmed().await.expect("none yet"), Confirmed::default());
        for n in 1..=3 {
            let sum = further.add(Confirmed { cases: 1, requests: 14 }).await.expect("added");
            assert_eq!(sum, Confirmed { cases: n, requests: 14 * n });
        }
        assert_eq!(further.confirmed().await.expect("read"), Confirmed { cases: 3, requests: 42 });
        std::fs::write(folder.path().join("slots/confirmed"), "  3").expect("torn");
        further.confirmed().await.expect_err("torn");
    }
}
