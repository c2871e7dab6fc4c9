//! Whether a model's name stays with one model: the table of names that providers move to other models.
//!
//! Sources, read in November 2026, stand beside each row. A name that no row knows is neither refused nor believed.

use std::sync::LazyLock;

use regex::Regex;

/// Names of one provider that move.
#[derive(Debug, PartialEq, Eq)]
pub struct Alias {
    /// Whose names they are.
    pub provider: &'static str,
    /// The whole name in lower case, without path, host prefixes such as `us.anthropic.` and a routing suffix such as `:free`.
    pub pattern: &'static str,
    /// A name of the same provider that stays, as an example.
    pub instead: &'static str,
    /// Where the provider says so, or who has read it there.
    pub source: &'static str,
}

/// Every row, the general one first.
pub const ALIASES: &[Alias] = &[
    Alias {
        provider: "the provider",
        pattern: r"(?:.*[-:.@_])?latest",
        instead: "NAME-2026-01-31",
        source: "https://docs.mistral.ai/resources/release-note/2024-02-26-mistral-large-and-mistral-small-api-endpoints; \
                 https://openrouter.ai/docs/guides/features/latest-resolution",
    },
    Alias {
        provider: "OpenAI",
        pattern: r"gpt-(?:3\.5|[4-9](?:\.\d+)?)o?(?:-(?:turbo|mini|nano|pro|chat|preview|search|audio|vision|instruct|16k|32k))*",
        instead: "gpt-4o-2024-08-06",
        source: "https://community.openai.com/t/1246138/19; https://community.openai.com/t/554656/5 (quotes the page of deprecations)",
    },
    Alias {
        provider: "OpenAI",
        pattern: r"o[1-9](?:-(?:mini|pro|preview|deep-research))*",
        instead: "o1-2024-12-17",
        source: "https://github.com/simonw/llm/commit/40549b2 (both forms of each name)",
    },
    Alias {
        provider: "Anthropic",
        pattern: r"claude-(?:opus|sonnet|haiku)-4(?:[-.][0-5])?",
        instead: "claude-sonnet-4-5-20250929",
        source: "https://platform.claude.com/docs/en/about-claude/models/model-ids-and-versions",
    },
    Alias {
        provider: "Anthropic",
        pattern: r"claude-3(?:[-.][57])?-(?:opus|sonnet|haiku)",
        instead: "claude-3-5-sonnet-20241022",
        source: "https://platform.claude.com/docs/en/about-claude/models/model-ids-and-versions",
    },
    Alias {
        provider: "Mistral",
        pattern: r"mistral-(?:tiny|small|medium|large)",
        instead: "mistral-large-2512",
        source: "https://docs.mistral.ai/resources/release-note/2024-02-26-mistral-large-and-mistral-small-api-endpoints",
    },
    Alias {
        provider: "Google",
        pattern: r"gemini-(?:(?:1\.[05]|2\.0)-)?(?:pro|flash)(?:-(?:lite|8b|vision))*",
        instead: "gemini-2.0-flash-001",
        source: "https://cloud.google.com/vertex-ai/generative-ai/docs/learn/model-versioning",
    },
    Alias {
        provider: "Alibaba",
        pattern: r"qwen(?:\d+(?:\.\d+)?)?-(?:max|plus|turbo|flash)",
        instead: "qwen-plus-2025-07-28",
        source: "https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope; \
                 https://dev.to/multigrid/qwens-deprecation-cadence-on-alibaba-clouds-hosted-api-4ae",
    },
    Alias {
        provider: "DeepSeek",
        pattern: r"deepseek-(?:chat|reasoner)",
        instead: "deepseek-v3.2",
        source: "https://api-docs.deepseek.com/updates",
    },
];

/// What makes a name stay with one model.
const FIXED: &[&str] = &[
    // A day, a month of a year, four digits of a month and a day or of a year and a month, a number of a stable release.
    r"(?:^|\D)20\d\d-?(?:0[1-9]|1[0-2])-?[0-3]\d(?:\D|$)",
    r"-(?:0[1-9]|1[0-2])-20\d\d(?:\D|$)",
    r"-\d{4}(?:[-:@]|$)",
    r"-00\d$",
    // From its generation 4.6 on, Anthropic dates no name and promises that each stays with one model
    // (https://platform.claude.com/docs/en/about-claude/models/model-ids-and-versions).
    r"(?:^|\.)claude-[a-z]+-(?:4-(?:[6-9]|\d\d)|[5-9](?:-\d{1,2})?)(?:-v\d)?$",
    // Weights in a file: the bits of their numbers, or the format.
    r"(?:^|[-_.:])(?:i?q[1-8](?:_[a-z0-9]+)*|b?f16|fp16|fp8|int[48]|awq|gptq|exl2|mlx|gguf)(?:[-_.:]|$)",
];

/// Whether a name stays with one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// It is dated or numbered, or names weights in a file.
    Fixed,
    /// Its provider moves it to other models.
    Floating(&'static Alias),
    /// Nobody here knows.
    Unknown,
}

/// What the table says of a model's name, in any letter case.
pub fn pin(model: &str) -> Pin {
    static FLOATING: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        ALIASES.iter().map(|alias| compiled(&format!("^(?:[a-z]+\\.)*(?:{})(?::[a-z]+)?$", alias.pattern))).collect()
    });
    static STAYING: LazyLock<Vec<Regex>> = LazyLock::new(|| FIXED.iter().map(|pattern| compiled(pattern)).collect());
    let name = last_part(model);
    if let Some((_, alias)) = FLOATING.iter().zip(ALIASES).find(|(pattern, _)| pattern.is_match(&name)) {
        return Pin::Floating(alias);
    }
    if STAYING.iter().any(|pattern| pattern.is_match(&name)) { Pin::Fixed } else { Pin::Unknown }
}

/// A name without the path before it, in lower case: hosts name models by maker, account or folder.
pub(super) fn last_part(model: &str) -> String {
    model.trim().rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase()
}

/// A pattern of a table of ours.
pub(super) fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of the table is valid")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floating(model: &str) -> Option<&'static str> {
        match pin(model) {
            Pin::Floating(alias) => Some(alias.provider),
            Pin::Fixed | Pin::Unknown => None,
        }
    }

    #[test]
    fn names_that_providers_move_are_known() {
        let table: &[(&str, &[&str])] = &[
            (
                "OpenAI",
                &[
                    "gpt-4o",
                    "GPT-4o",
                    "gpt-4o-mini",
                    "gpt-4",
                    "gpt-4-turbo",
                    "gpt-4-turbo-preview",
                    "gpt-4.1",
                    "gpt-4.1-mini",
                    "gpt-4.1-nano",
                    "gpt-4.5-preview",
                    "gpt-3.5-turbo",
                    "gpt-3.5-turbo-16k",
                    "gpt-5",
                    "gpt-5-mini",
                    "gpt-5.4",
                    "gpt-5.4-nano",
                    "openai/gpt-4o",
                    "openai/gpt-4o:extended",
                    "o1",
                    "o3-mini",
                    "o4-mini",
                    "o1-pro",
                ],
            ),
            (
                "Anthropic",
                &[
                    "claude-sonnet-4-0",
                    "claude-opus-4-1",
                    "claude-opus-4-5",
                    "claude-sonnet-4-5",
                    "claude-haiku-4-5",
                    "claude-sonnet-4",
                    "anthropic/claude-sonnet-4.5",
                    "claude-3-5-sonnet",
                    "claude-3-opus",
                    "anthropic/claude-3.7-sonnet:beta",
                    "us.anthropic.claude-3-haiku",
                ],
            ),
            ("Mistral", &["mistral-large", "mistral-small", "mistral-medium", "mistralai/mistral-large"]),
            (
                "Google",
                &[
                    "gemini-pro",
                    "gemini-1.5-pro",
                    "gemini-1.5-flash-8b",
                    "models/gemini-2.0-flash",
                    "gemini-2.0-flash-lite",
                ],
            ),
            ("Alibaba", &["qwen-max", "qwen-plus", "qwen3-max", "qwen3.6-plus", "qwen-turbo"]),
            ("DeepSeek", &["deepseek-chat", "deepseek/deepseek-reasoner"]),
            (
                "the provider",
                &[
                    "chatgpt-4o-latest",
                    "gpt-5-chat-latest",
                    "claude-3-5-sonnet-latest",
                    "claude-3-7-sonnet-latest",
                    "mistral-large-latest",
                    "codestral-latest",
                    "gemini-flash-latest",
                    "gemini-1.5-pro-latest",
                    "grok-3-latest",
                    "qwen-max-latest",
                    "llama3.1:latest",
                    "latest",
                    "~anthropic/claude-opus-latest",
                    "cohere.command-latest",
                ],
            ),
        ];
        for (provider, models) in table {
            for model in *models {
                assert_eq!(floating(model), Some(*provider), "{model}");
            }
        }
    }

    #[test]
    fn dated_names_stay() {
        for model in [
            "gpt-4o-2024-08-06",
            "gpt-4o-mini-2024-07-18",
            "gpt-4.1-2025-04-14",
            "gpt-4-0613",
            "gpt-4-1106-preview",
            "gpt-3.5-turbo-0125",
            "o3-mini-2025-01-31",
            "gpt-5.4-2026-03-05",
            "ft:gpt-4o-2024-08-06:org::id",
            "claude-3-5-sonnet-20241022",
            "claude-sonnet-4-20250514",
            "claude-sonnet-4-5@20250929",
            "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
            "claude-opus-4-6",
            "claude-sonnet-5",
            "claude-opus-4-10",
            "anthropic.claude-opus-4-6-v1",
            "mistral-large-2411",
            "codestral-2508",
            "gemini-1.5-pro-001",
            "gemini-2.5-flash-preview-09-2025",
            "qwen-plus-2025-07-28",
            "qwen3-235b-a22b-instruct-2507",
            "command-r-08-2024",
            "cohere.command-r-plus-08-2024",
            "grok-4-0709",
            "deepseek-v3-0324",
            "judge-2026-01-01",
        ] {
            assert_eq!(pin(model), Pin::Fixed, "{model}");
        }
    }

    #[test]
    fn weights_in_a_file_stay() {
        for model in [
            "qwen2.5-1.5b-instruct-q4_k_m",
            "qwen2.5-1.5b-q4",
            "/models/Qwen2.5-7B-Instruct-Q4_K_M.gguf",
            "llama3.1:8b-instruct-q8_0",
            "mistral-7b.gguf",
            "Mistral-Large-Instruct-IQ4_XS",
            "phi-3-mini-fp16",
            "TheBloke/Llama-2-7B-AWQ",
            "C:\\models\\gpt-4o.gguf",
        ] {
            assert_eq!(pin(model), Pin::Fixed, "{model}");
        }
    }

    #[test]
    fn names_that_only_look_alike_are_not_known() {
        for model in [
            "my-gpt-clone",
            "gpt-clone",
            "llama.cpp",
            "claudette",
            "claude",
            "gpt4all",
            "gpt-j-6b",
            "gpt-oss-20b",
            "not-gpt-4o",
            "gpt-4o-ours",
            "o1labs",
            "o10",
            "mistral-7b-instruct",
            "open-mistral-7b",
            "gemini-2.5-pro",
            "gemini-nano",
            "qwen2.5-7b-instruct",
            "qwen-maximal",
            "deepseek-v3.2",
            "deepseek-chatter",
            "latest-and-greatest",
            "translatest",
            "m",
            "e5-small",
            "",
        ] {
            assert_eq!(pin(model), Pin::Unknown, "{model}");
        }
    }

    #[test]
    fn each_row_offers_a_name_that_does_not_move() {
        for alias in ALIASES {
            assert_eq!(floating(alias.instead), None, "{}", alias.instead);
            assert!(alias.source.starts_with("https://"), "{}", alias.source);
        }
    }
}
