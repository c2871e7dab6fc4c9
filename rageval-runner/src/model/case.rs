//! A question with what we know of its right answer.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    ids::{CaseId, DocId, MetricKey},
    repeats::{Reduction, Repeats},
    sample::Answer,
    score::UnitInterval,
};

/// The languages whose sentences, words and refusals are known. Any other tag is read by the rules of English.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Language {
    /// English, and the rules for languages that have none of their own.
    #[default]
    En,
    /// Portuguese.
    Pt,
    /// Chinese.
    Zh,
}

impl Language {
    /// The language of a tag such as `pt-BR` or `zh_Hant`; `None` for a tag that has no rules of its own.
    pub fn of_tag(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next().unwrap_or(tag).to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "pt" => Some(Self::Pt),
            "zh" => Some(Self::Zh),
            _ => None,
        }
    }

    /// The bare tag.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Pt => "pt",
            Self::Zh => "zh",
        }
    }
}

/// Where something stands in a file the user wrote. Lines and columns count from 1; columns count characters.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The file, relative to the folder of `thresholds.yaml`, with `/` between its parts.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One document that should be found, and how relevant it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judgement {
    /// The document.
    pub id: DocId,
    /// Its grade; 1 where the case gives none. A grade of 0 or less means not relevant.
    pub grade: f64,
}

/// What the right answer to a case does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Expectation {
    /// It answers.
    Answer,
    /// It declines.
    Refuse,
}

/// A case's own bar for one metric, over the one in `thresholds.yaml`. A field that is `None` keeps what stands there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseBar {
    /// The lowest score that passes.
    pub min: Option<UnitInterval>,
    /// The largest drop against the baseline that passes.
    pub max_drop: Option<UnitInterval>,
    /// How repeats of the case are reduced for this metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce: Option<Reduction>,
    /// The metric's own parameters, such as `any` of `contains`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, serde_json::Value>,
}

/// Metrics in which a case is known to fail for now: it passes while it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownFailure {
    /// The metrics.
    pub metrics: Vec<MetricKey>,
    /// Why it is known, for whoever reads the run.
    pub reason: String,
}

/// One question with what we know of its right answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GoldenCase {
    /// Its id, unique in the set under NFC.
    pub id: CaseId,
    /// The question.
    pub query: String,
    /// Accepted right answers; empty where none is given. Metrics that compare with a reference take the best.
    pub references: Vec<String>,
    /// Documents that should be found; `None` where the case does not say, so that retrieval metrics do not apply.
    pub relevant: Option<Vec<Judgement>>,
    /// Texts that hold the right answer.
    pub reference_contexts: Vec<String>,
    /// Whether the right answer is to decline.
    pub expectation: Expectation,
    /// `how-to`, `fact`, ...: the `type` key.
    pub kind: Option<String>,
    /// `easy`, `medium`, `hard`, or any other word.
    pub difficulty: Option<String>,
    /// The language tag as written: `pt-BR`.
    pub language_tag: Option<String>,
    /// The language whose rules apply: of the tag, else guessed from the query.
    pub language: Language,
    /// Free words for slices.
    pub tags: Vec<String>,
    /// The source document, by which cases are clustered for intervals.
    pub document: Option<String>,
    /// Anything else, by name, as text.
    pub metadata: BTreeMap<String, String>,
    /// This case's own bars.
    pub bars: BTreeMap<MetricKey, CaseBar>,
    /// Metrics in which it is known to fail.
    pub known_failure: Option<KnownFailure>,
    /// How often it is asked: its own word, else that of the policy. No part of the content digest.
    pub repeats: Repeats,
    /// A recorded answer that stands in the case itself.
    pub recorded: Option<Arc<Answer>>,
    /// The path under the cases folder, without extension: the middle of the trial's name.
    pub group: String,
    /// Where the case starts.
    pub place: Place,
}

impl GoldenCase {
    /// A question of which nothing else is known: to be answered, in English, asked once, in the group `all`, at no place.
    pub fn new(id: CaseId, query: impl Into<String>) -> Self {
        Self {
            id,
            query: query.into(),
            references: Vec::new(),
            relevant: None,
            reference_contexts: Vec::new(),
            expectation: Expectation::Answer,
            kind: None,
            difficulty: None,
            language_tag: None,
            language: Language::En,
            tags: Vec::new(),
            document: None,
            metadata: BTreeMap::new(),
            bars: BTreeMap::new(),
            known_failure: None,
            repeats: Repeats::default(),
            recorded: None,
            group: "all".to_owned(),
            place: Place::default(),
        }
    }

    /// The trial's name: `case::<path under cases without extension>::<id>`.
    pub fn trial_name(&self) -> String {
        format!("case::{}::{}", self.group, self.id)
    }

    /// Relevant documents with a grade above 0; empty where the case names none.
    pub fn relevant_documents(&self) -> impl Iterator<Item = &Judgement> {
        self.relevant.iter().flatten().filter(|judgement| judgement.grade > 0.0)
    }

    /// Content digest over what defines the right answer: query, references, relevant ids and grades, reference contexts, expectation.
    ///
    /// A case whose digest differs from the baseline's is compared as new. 32 hex digits of blake3 over length-prefixed fields,
    /// so that no two contents share an encoding; relevant documents are sorted by id, since their order says nothing.
    pub fn digest(&self) -> String {
        let mut hasher = Fields::default();
        for part in CasePart::ALL {
            self.add_part(part, &mut hasher);
        }
        hasher.finish()
    }

    /// Digest of one part of the content alone: 16 hex digits of blake3. `None` where the case says nothing of it, which for
    /// `should_refuse` is an answerable case.
    pub fn part_digest(&self, part: CasePart) -> Option<String> {
        let is_stated = match part {
            CasePart::Query => true,
            CasePart::References => !self.references.is_empty(),
            CasePart::Relevant => self.relevant.is_some(),
            CasePart::ReferenceContexts => !self.reference_contexts.is_empty(),
            CasePart::Expectation => self.expectation == Expectation::Refuse,
        };
        is_stated.then(|| {
            let mut hasher = Fields::default();
            self.add_part(part, &mut hasher);
            let mut digest = hasher.finish();
            digest.truncate(16);
            digest
        })
    }

    fn add_part(&self, part: CasePart, hasher: &mut Fields) {
        match part {
            CasePart::Query => hasher.add("query", &self.query),
            CasePart::References => {
                for reference in &self.references {
                    hasher.add("reference", reference);
                }
            }
            CasePart::Relevant => match &self.relevant {
                None => hasher.add("relevant", "unstated"),
                Some(judgements) => {
                    let mut judgements: Vec<_> = judgements.iter().collect();
                    judgements.sort_by(|a, b| a.id.cmp(&b.id));
                    for judgement in judgements {
                        hasher.add("relevant", judgement.id.as_str());
                        hasher.add("grade", &judgement.grade.to_string());
                    }
                }
            },
            CasePart::ReferenceContexts => {
                for context in &self.reference_contexts {
                    hasher.add("context", context);
                }
            }
            CasePart::Expectation => {
                hasher.add("refuse", if self.expectation == Expectation::Refuse { "yes" } else { "no" });
            }
        }
    }
}

/// A part of what defines the right answer, called as the key of a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CasePart {
    /// The question.
    #[serde(rename = "query")]
    Query,
    /// The accepted right answers.
    #[serde(rename = "ground_truth_answer")]
    References,
    /// The documents that should be found, with their grades.
    #[serde(rename = "relevant_doc_ids")]
    Relevant,
    /// The texts that hold the right answer.
    #[serde(rename = "reference_contexts")]
    ReferenceContexts,
    /// Whether the right answer is to decline.
    #[serde(rename = "should_refuse")]
    Expectation,
}

impl CasePart {
    /// Every part, in the order in which the content digest takes them.
    pub const ALL: [Self; 5] =
        [Self::Query, Self::References, Self::Relevant, Self::ReferenceContexts, Self::Expectation];

    /// The key of a case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::References => "ground_truth_answer",
            Self::Relevant => "relevant_doc_ids",
            Self::ReferenceContexts => "reference_contexts",
            Self::Expectation => "should_refuse",
        }
    }
}

impl fmt::Display for CasePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Hashes named fields so that no two lists of fields collide by concatenation.
#[derive(Default)]
pub struct Fields(blake3::Hasher);

impl Fields {
    /// Adds one field.
    pub fn add(&mut self, name: &str, text: &str) {
        for part in [name, text] {
            self.0.update(&(part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
    }

    /// 32 hex digits over all fields so far.
    pub fn finish(&self) -> String {
        self.0.finalize().to_hex()[..32].to_owned()
    }
}

/// A versioned set of golden cases, in the order of their files' paths and then of their places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoldenSet {
    /// Name, where a file states one.
    pub name: Option<String>,
    /// Version, where a file states one.
    pub version: Option<String>,
    /// Everywhere that the version stands, in the order of the files.
    pub version_places: Vec<Place>,
    /// The cases.
    pub cases: Vec<GoldenCase>,
}

impl GoldenSet {
    /// The case of this id.
    pub fn get(&self, id: &CaseId) -> Option<&GoldenCase> {
        self.cases.iter().find(|case| case.id == *id)
    }

    /// Digest over ids and content digests of all cases, sorted by id: 32 hex digits.
    pub fn digest(&self) -> String {
        set_digest(self.cases.iter().map(|case| (case.id.as_str(), case.digest())))
    }
}

/// Digest over ids and content digests, whatever their order: 32 hex digits.
pub fn set_digest<'a>(cases: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut cases: Vec<_> = cases.into_iter().collect();
    cases.sort_unstable();
    let mut hasher = Fields::default();
    for (id, digest) in cases {
        hasher.add(id, &digest);
    }
    hasher.finish()
}
