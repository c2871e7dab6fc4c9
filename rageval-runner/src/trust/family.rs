//! Of which family a model is: by its name, and by what the policy declares.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::pin::{compiled, last_part};

/// Declares that something is no model and so of no family.
pub const NO_MODEL: &str = "none";

/// A family of models.
#[derive(Debug, PartialEq, Eq)]
pub struct Family {
    /// What it is called.
    pub name: &'static str,
    /// What else it may be called where it is declared.
    pub words: &'static [&'static str],
    /// How names of its models begin, in lower case; before it stands the start of the name or no letter or digit.
    pub pattern: &'static str,
}

/// Every family that names tell. A name may be of several: a model distilled from one into another is of both.
pub const FAMILIES: &[Family] = &[
    Family { name: "ai21", words: &["jamba"], pattern: r"jamba(?:[^a-z]|$)" },
    Family {
        name: "amazon",
        words: &["nova", "titan"],
        pattern: r"(?:nova-(?:micro|lite|pro|premier)|titan-text)(?:[^a-z]|$)",
    },
    Family { name: "anthropic", words: &["claude"], pattern: r"claude(?:[^a-z]|$)" },
    Family {
        name: "cohere",
        words: &["command", "aya"],
        pattern: r"(?:command-(?:r|r7b|a|light|nightly)|aya-(?:expanse|vision|\d+b?))(?:[^a-z0-9]|$)",
    },
    Family { name: "deepseek", words: &[], pattern: r"deepseek(?:[^a-z]|$)" },
    Family { name: "ernie", words: &["baidu"], pattern: r"ernie(?:[^a-z]|$)" },
    Family { name: "glm", words: &["zhipu", "z.ai"], pattern: r"(?:chat)?glm[-_]?\d" },
    Family {
        name: "google",
        words: &["gemini", "gemma"],
        pattern: r"(?:gemini|(?:code|med|pali|shield)?gemma)(?:[^a-z]|$)",
    },
    Family { name: "granite", words: &["ibm"], pattern: r"granite[-_]?\d" },
    Family { name: "kimi", words: &["moonshot"], pattern: r"(?:kimi(?:[^a-z]|$)|moonshot-v\d)" },
    Family {
        name: "llama",
        words: &["meta"],
        pattern: r"(?:code|tiny)?llama(?:[-_]?v?\d|[-_](?:guard|chat|instruct)(?:[^a-z]|$)|$)",
    },
    Family { name: "minimax", words: &[], pattern: r"minimax(?:[^a-z]|$)" },
    Family {
        name: "mistral",
        words: &["mixtral", "codestral"],
        pattern: r"(?:mistral|mixtral|ministral|codestral|magistral|devstral|pixtral|mathstral)(?:[^a-z]|$)",
    },
    Family { name: "nvidia", words: &["nemotron"], pattern: r"nemotron(?:[^a-z]|$)" },
    Family {
        name: "openai",
        words: &["gpt", "chatgpt"],
        pattern: r"(?:chatgpt|gpt-oss|text-davinci|gpt-?\d+(?:\.\d+)?o?)(?:[^a-z0-9]|$)",
    },
    // Too short to be looked for within a name.
    Family { name: "openai", words: &[], pattern: r"^o[1-9](?:-(?:mini|pro|preview|deep|\d)|$)" },
    Family { name: "phi", words: &["microsoft"], pattern: r"phi[-_]?\d" },
    Family { name: "qwen", words: &["alibaba"], pattern: r"(?:code)?(?:qwen|qwq|qvq)(?:[^a-z]|$)" },
    Family { name: "xai", words: &["grok"], pattern: r"grok(?:[^a-z]|$)" },
    Family { name: "yi", words: &["01.ai"], pattern: r"^yi-(?:\d|large|lightning|medium|vision|spark|coder)" },
];

/// What is known of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kin {
    /// Declared to be no model.
    NoModel,
    /// One or more families.
    Of(BTreeSet<String>),
    /// Neither the name nor the policy says.
    Unknown,
}

/// The family of a model: what its name says, and with it what is declared. A declaration takes nothing away from what a name says.
pub fn kin(model: &str, declared: Option<&str>) -> Kin {
    let mut families = of_name(model);
    match declared.map(|word| word.trim().to_lowercase()) {
        Some(word) if word == NO_MODEL && families.is_empty() => return Kin::NoModel,
        Some(word) if word == NO_MODEL => {}
        Some(word) => families.extend(of_word(&word)),
        None => {}
    }
    if families.is_empty() { Kin::Unknown } else { Kin::Of(families) }
}

/// What a model's name says, in any letter case; nothing for most names.
pub fn of_name(model: &str) -> BTreeSet<String> {
    static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        FAMILIES.iter().map(|family| compiled(&format!("(?:^|[^a-z0-9])(?:{})", family.pattern))).collect()
    });
    let name = last_part(model);
    let matching = PATTERNS.iter().zip(FAMILIES).filter(|(pattern, _)| pattern.is_match(&name));
    matching.map(|(_, family)| family.name.to_owned()).collect()
}

/// The families of a declared word: one of the table by any of its names, else what it says as a model's name, else itself.
fn of_word(word: &str) -> BTreeSet<String> {
    let called = FAMILIES.iter().find(|family| family.name == word || family.words.contains(&word));
    let families = match called {
        Some(family) => BTreeSet::from([family.name.to_owned()]),
        None => of_name(word),
    };
    if families.is_empty() { BTreeSet::from([word.to_owned()]) } else { families }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(model: &str) -> Vec<String> {
        of_name(model).into_iter().collect()
    }

    #[test]
    fn names_tell_their_family() {
        let table: &[(&str, &[&str])] = &[
            (
                "openai",
                &[
                    "gpt-4o-2024-08-06",
                    "GPT-4",
                    "gpt-35-turbo",
                    "chatgpt-4o-latest",
                    "gpt-oss-120b",
                    "gpt2",
                    "o1",
                    "o3-mini-2025-01-31",
                    "openai/o4-mini",
                    "ft:gpt-3.5-turbo-0125:org::id",
                    "text-davinci-003",
                    "my-gpt-4o-proxy",
                ],
            ),
            (
                "anthropic",
                &["claude-3-opus-20240229", "us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-2.1", "claude"],
            ),
            (
                "google",
                &[
                    "gemini-1.5-pro-001",
                    "models/gemini-2.5-flash",
                    "gemma-2-9b-it",
                    "gemma2:2b",
                    "codegemma-7b",
                    "gemma-3n-e4b",
                ],
            ),
            (
                "llama",
                &[
                    "llama-3.1-8b",
                    "meta-llama/Meta-Llama-3-8B-Instruct",
                    "llama3.1:70b",
                    "codellama-13b",
                    "llama-v3p1-8b",
                    "tinyllama",
                    "nous-hermes-llama2",
                    "llama-guard-3",
                    "llama",
                ],
            ),
            (
                "mistral",
                &[
                    "mistral-large-2411",
                    "open-mixtral-8x7b",
                    "codestral-2508",
                    "ministral-8b-2512",
                    "mistral.mistral-large-2402-v1:0",
                ],
            ),
            ("qwen", &["qwen2.5-1.5b-instruct-q4_k_m", "Qwen/QwQ-32B", "qwen-plus", "codeqwen1.5-7b"]),
            ("deepseek", &["deepseek-chat", "deepseek-v3-0324"]),
            ("phi", &["phi-3-mini-4k", "Phi-4", "phi3:mini"]),
            (
                "cohere",
                &[
                    "command-r-08-2024",
                    "c4ai-command-r-plus",
                    "command-r7b-12-2024",
                    "command-a-03-2025",
                    "aya-expanse-8b",
                ],
            ),
            ("glm", &["glm-4-0116", "chatglm3-6b"]),
            ("yi", &["yi-34b-chat", "01-ai/Yi-1.5-9B"]),
            ("xai", &["grok-4-0709"]),
            ("kimi", &["kimi-k2-instruct", "moonshot-v1-8k"]),
            ("nvidia", &["nemotron-4-340b"]),
            ("amazon", &["amazon.nova-pro-v1:0"]),
            ("ai21", &["jamba-1.5-large"]),
            ("granite", &["granite-3.1-8b"]),
            ("ernie", &["ernie-4.5"]),
            ("minimax", &["minimax-m2.5"]),
        ];
        for (family, models) in table {
            for model in *models {
                assert_eq!(said(model), [*family], "{model}");
            }
        }
        let tested: BTreeSet<_> = table.iter().map(|(family, _)| *family).collect();
        assert_eq!(tested, FAMILIES.iter().map(|family| family.name).collect());
    }

    #[test]
    fn names_that_only_look_alike_tell_nothing() {
        for model in [
            "my-gpt-clone",
            "llama.cpp",
            "llama.cpp-b3000",
            "llama-server",
            "claudette",
            "gpt4all",
            "gpt-j-6b",
            "gpt-neox-20b",
            "o1labs",
            "o10",
            "delphi-3",
            "yield-7b",
            "granite",
            "commander-r",
            "command-line",
            "mistrallite",
            "novation-pro",
            "groks",
            "demo-extractive",
            "rules-3",
            "m",
            "g",
            "",
            "openai/my-model",
        ] {
            assert_eq!(said(model), Vec::<String>::new(), "{model}");
        }
    }

    #[test]
    fn a_distilled_model_is_of_both_families() {
        assert_eq!(said("deepseek-r1-distill-qwen-7b"), ["deepseek", "qwen"]);
        assert_eq!(said("llama-3.1-nemotron-70b"), ["llama", "nvidia"]);
    }

    #[test]
    fn a_declared_family_counts_where_the_name_tells_nothing() {
        let of = |families: &[&str]| Kin::Of(families.iter().map(|family| (*family).to_owned()).collect());
        assert_eq!(kin("support-bot", None), Kin::Unknown);
        assert_eq!(kin("support-bot", Some("Claude")), of(&["anthropic"]));
        assert_eq!(kin("support-bot", Some("gpt-4o")), of(&["openai"]));
        assert_eq!(kin("support-bot", Some("house-model")), of(&["house-model"]));
        assert_eq!(kin("support-bot", Some("none")), Kin::NoModel);
    }

    #[test]
    fn a_declared_family_takes_nothing_away_from_a_name() {
        let of = |families: &[&str]| Kin::Of(families.iter().map(|family| (*family).to_owned()).collect());
        assert_eq!(kin("gpt-4o-2024-08-06", Some("qwen")), of(&["openai", "qwen"]));
        assert_eq!(kin("gpt-4o-2024-08-06", Some("none")), of(&["openai"]));
    }

    #[test]
    fn every_word_is_of_one_family() {
        let words: Vec<_> = FAMILIES.iter().flat_map(|family| family.words).collect();
        assert_eq!(words.len(), words.iter().collect::<BTreeSet<_>>().len());
        assert!(!words.contains(&&NO_MODEL));
    }
}
