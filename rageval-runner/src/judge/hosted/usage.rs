//! What a reply says it took.

use serde_json::Value;

/// The tokens that a reply says were read and written.
pub(super) fn tokens_used(value: &Value) -> Option<(u64, u64)> {
    let of = |name: &str| value.get("usage")?.get(name)?.as_u64();
    let of_messages = || {
        // What was kept from an earlier request is read all the same, and Anthropic counts it apart.
        let kept = ["cache_read_input_tokens", "cache_creation_input_tokens"].into_iter().filter_map(of);
        Some((kept.fold(of("input_tokens")?, u64::saturating_add), of("output_tokens")?))
    };
    let of_completions = || match (of("prompt_tokens"), of("completion_tokens"), of("total_tokens")) {
        // What a model thinks is written too, and some servers count it in the total alone.
        (Some(read), written, total) => {
            Some((read, written.into_iter().chain(total.and_then(|total| total.checked_sub(read))).max()?))
        }
        (None, _, total) => Some((total?, 0)),
    };
    of_completions().or_else(of_messages)
}
