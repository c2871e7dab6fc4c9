//! Which models write the answers of a run: what the policy declares and what the system itself says.

use std::collections::BTreeSet;

use crate::model::Record;

/// Which models write the answers of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Generators {
    /// `system.generator` of the policy.
    pub declared: Option<String>,
    /// What the answers say; `None` where not all of them are known here, as in a shard.
    pub told: Option<Told>,
}

/// What the answers of a run say of the model that wrote them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// The models that they name.
    pub models: BTreeSet<String>,
    /// Answers that name none, each repeat of a case counted. Faults are no answers.
    pub silent: usize,
}

impl Told {
    /// Adds what the answers of a record say.
    pub fn hear(&mut self, record: &Record) {
        for sample in record.samples() {
            match sample.answer.generator.as_deref().map(str::trim).filter(|model| !model.is_empty()) {
                Some(model) if self.models.contains(model) => {}
                Some(model) => {
                    self.models.insert(model.to_owned());
                }
                None => self.silent += 1,
            }
        }
    }
}

impl Generators {
    /// Declared alone: the answers say nothing.
    pub fn declared(generator: Option<&str>) -> Self {
        Self { declared: generator.map(str::to_owned), told: Some(Told::default()) }
    }

    /// Those of a whole run: what is declared, and what its answers say, those of all repeats.
    pub fn of<'r>(declared: Option<&str>, records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut told = Told::default();
        for record in records {
            told.hear(record);
        }
        Self { declared: declared.map(str::to_owned), told: Some(told) }
    }

    /// Every model that writes answers, as far as anybody says.
    pub fn all(&self) -> BTreeSet<&str> {
        let told = self.told.iter().flat_map(|told| &told.models).map(String::as_str);
        told.chain(self.declared.as_deref()).collect()
    }

    /// The models that answers name and the policy does not; none where it declares nothing.
    pub fn others(&self) -> Vec<&str> {
        let Some(declared) = &self.declared else { return Vec::new() };
        let is_other = |model: &&String| !model.eq_ignore_ascii_case(declared.trim());
        self.told.iter().flat_map(|told| &told.models).filter(is_other).map(String::as_str).collect()
    }
}
