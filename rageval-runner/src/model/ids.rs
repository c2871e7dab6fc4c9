//! Names as types: a case, a document, a metric with its parameters.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Longest case id, in bytes: with the slug, the hash and insta's endings a file name stays below 255.
pub const MAX_CASE_ID_BYTES: usize = 150;

/// The id of a golden case: any text without control characters or outer blanks, 1 to 150 bytes, not starting with `-`.
///
/// Letter case distinguishes. Two ids that are equal under Unicode NFC are one id: compare with [`CaseId::nfc`]. A clone shares the text, as
/// each gate names all of its cases.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct CaseId(Arc<str>);

/// Why a text is no case id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text is empty.
    #[error("an id must not be empty")]
    Empty,
    /// The text is longer than [`MAX_CASE_ID_BYTES`].
    #[error("an id has at most {MAX_CASE_ID_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// A control character, which test runners strip from names: such a case could fail and be reported as passed.
    #[error("an id must not hold control characters, this one has U+{0:04X}")]
    Control(u32),
    /// A blank at either end.
    #[error("an id must not start or end with a blank")]
    OuterBlank,
    /// A leading `-`, which command lines take for a flag.
    #[error("an id must not start with `-`")]
    LeadingDash,
}

impl CaseId {
    /// Checks the rules above and keeps the text as it was written.
    pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
        let text = text.into();
        if text.is_empty() {
            return Err(IdError::Empty);
        }
        if text.len() > MAX_CASE_ID_BYTES {
            return Err(IdError::TooLong(text.len()));
        }
        if let Some(control) = text.chars().find(|c| is_unfit_for_names(*c)) {
            return Err(IdError::Control(u32::from(control)));
        }
        if text.trim() != text {
            return Err(IdError::OuterBlank);
        }
        if text.starts_with('-') {
            return Err(IdError::LeadingDash);
        }
        Ok(Self(text.into()))
    }

    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id under Unicode NFC, by which ids are told apart.
    pub fn nfc(&self) -> String {
        self.0.nfc().collect()
    }
}

/// Control characters in the wide sense: C0, C1, the two Unicode line separators, which some runners take for line ends, and those
/// that change the direction of text, which could make the lines of a run read as others.
pub fn is_unfit_for_names(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for CaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for CaseId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        Self::new(text)
    }
}

impl From<CaseId> for String {
    fn from(id: CaseId) -> Self {
        id.0.as_ref().to_owned()
    }
}

/// The id of a document: an exact string, compared byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DocId(pub String);

impl DocId {
    /// The id as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for DocId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for DocId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for DocId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A metric as `thresholds.yaml` names it: `recall@5`, `faithfulness`, `regex/iso-date`.
///
/// Three parts: the metric's name; after `@` a cut-off of at least 1; after `/` a label, so that one metric can stand twice with other parameters.
/// A clone shares them, as each case names all of its metrics.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct MetricKey(Arc<KeyParts>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct KeyParts {
    name: String,
    cutoff: Option<usize>,
    label: Option<String>,
}

/// Why a text is no metric key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricKeyError {
    /// Nothing before `@` or `/`, or characters other than lower-case letters, digits and `_`.
    #[error("a metric's name is lower-case letters, digits and `_`, as in `recall@5`; got `{0}`")]
    Name(String),
    /// The text after `@` is no whole number of at least 1.
    #[error("the cut-off after `@` is a whole number of at least 1, got `{0}`")]
    Cutoff(String),
    /// The text after `/` is empty or holds characters other than letters, digits, `-`, `_` and `.`.
    #[error("the label after `/` is letters, digits, `-`, `_` and `.`; got `{0}`")]
    Label(String),
}

impl MetricKey {
    /// Reads `name[@cutoff][/label]`.
    pub fn parse(text: &str) -> Result<Self, MetricKeyError> {
        let (head, label) = match text.split_once('/') {
            Some((head, label)) => (head, Some(label)),
            None => (text, None),
        };
        let (name, cutoff) = match head.split_once('@') {
            Some((name, cutoff)) => (name, Some(cutoff)),
            None => (head, None),
        };
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(MetricKeyError::Name(name.to_owned()));
        }
        let cutoff = match cutoff {
            None => None,
            Some(digits) => match digits.parse::<usize>() {
                Ok(k) if k >= 1 && digits == k.to_string() => Some(k),
                _ => return Err(MetricKeyError::Cutoff(digits.to_owned())),
            },
        };
        if let Some(label) = label {
            let labelled = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
            if label.is_empty() || !label.chars().all(labelled) {
                return Err(MetricKeyError::Label(label.to_owned()));
            }
        }
        Ok(Self(Arc::new(KeyParts { name: name.to_owned(), cutoff, label: label.map(str::to_owned) })))
    }

    /// The metric's name without cut-off and label.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The cut-off after `@`.
    pub fn cutoff(&self) -> Option<usize> {
        self.0.cutoff
    }

    /// The label after `/`.
    pub fn label(&self) -> Option<&str> {
        self.0.label.as_deref()
    }
}

impl fmt::Display for MetricKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)?;
        if let Some(cutoff) = self.0.cutoff {
            write!(f, "@{cutoff}")?;
        }
        if let Some(label) = &self.0.label {
            write!(f, "/{label}")?;
        }
        Ok(())
    }
}

impl TryFrom<String> for MetricKey {
    type Error = MetricKeyError;

    fn try_from(text: String) -> Result<Self, MetricKeyError> {
        Self::parse(&text)
    }
}

impl From<MetricKey> for String {
    fn from(key: MetricKey) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_runners_mangle_are_refused() {
        assert_eq!(CaseId::new(""), Err(IdError::Empty));
        assert_eq!(CaseId::new(" a"), Err(IdError::OuterBlank));
        assert_eq!(CaseId::new("a\u{3000}"), Err(IdError::OuterBlank));
        assert_eq!(CaseId::new("-a"), Err(IdError::LeadingDash));
        assert_eq!(CaseId::new("a\u{1b}[31m"), Err(IdError::Control(0x1b)));
        assert_eq!(CaseId::new("a\nb"), Err(IdError::Control(0x0a)));
        assert_eq!(CaseId::new("a\u{202e}b"), Err(IdError::Control(0x202e)));
        assert_eq!(CaseId::new("a".repeat(151)), Err(IdError::TooLong(151)));
    }

    #[test]
    fn ids_keep_their_spelling() {
        for id in ["退款-期限", "ação", "a b", "\"quoted\"", "../../evil", "<a&b>"] {
            assert_eq!(CaseId::new(id).expect("a valid id").as_str(), id);
        }
    }

    #[test]
    fn metric_keys_round_trip() {
        for key in ["recall@5", "faithfulness", "regex/iso-date", "ndcg@10/graded"] {
            assert_eq!(MetricKey::parse(key).expect("a valid key").to_string(), key);
        }
    }

    #[test]
    fn a_cutoff_of_zero_is_an_input_error() {
        assert_eq!(MetricKey::parse("recall@0"), Err(MetricKeyError::Cutoff("0".into())));
        assert_eq!(MetricKey::parse("recall@05"), Err(MetricKeyError::Cutoff("05".into())));
        assert_eq!(MetricKey::parse("recall@"), Err(MetricKeyError::Cutoff(String::new())));
    }
}
