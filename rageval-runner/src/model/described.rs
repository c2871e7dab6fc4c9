//! What a run says of a metric that is not built in, for programs that cannot link it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a metric looks at; the prefix of its place in reports and the default decision rule follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Kind {
    /// The ranking of what was fetched.
    Retrieval,
    /// The answer's text, by rule; these can be negated with `not: true`.
    Text,
    /// A measured quantity against a `max`: length, latency, tokens, cost.
    Quantity,
    /// A judge's verdicts.
    Judged,
}

/// Whether a metric's key carries a cut-off after `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Cutoff {
    /// `hit_rate@5` only.
    Required,
    /// `mrr` and `mrr@10`.
    Optional,
    /// `faithfulness` only.
    Refused,
}

/// A metric of the user's own: all that deciding over its scores needs, and reading rules that name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DescribedMetric {
    /// What it says, in one sentence.
    pub about: String,
    /// What it looks at.
    pub kind: Kind,
    /// Version of its definition.
    pub version: u32,
    /// Whether its key carries a cut-off.
    pub cutoff: Cutoff,
    /// Names of the parameters that it takes, without `not`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub parameters: BTreeSet<String>,
    /// The parameter with the word under which it asks the judge, where it does not always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_when: Option<(String, String)>,
    /// Whether it compares with the baseline's answers.
    #[serde(default)]
    pub reads_baseline: bool,
    /// Whether it compares vectors, under the parameters of at least one rule of the run.
    #[serde(default)]
    pub needs_embedder: bool,
}
