//! A judge's prose made ready for reading: thinking cut off, what nobody sees dropped, case folded.

use super::{Unreadable, objects::thinking, repair};

/// Reads what a judge says after its thinking.
///
/// A reply that opens with a thinking tag is read from behind the first closing tag. Some templates give the closing tag alone; then what
/// stands before it must not be readable as another answer, since the tag may also be quoted from the text that is judged.
pub(super) fn after_thinking<T: PartialEq>(
    text: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Unreadable> {
    let unreadable = |what: String| Unreadable::new(&what, text);
    let visible: String = text.chars().filter(|c| c.is_whitespace() || !repair::is_blank(*c)).collect();
    let visible = visible.trim();
    if let Some(tag) = thinking::opening(visible) {
        let thought = &visible[tag..];
        let end = thinking::end(thought).ok_or_else(|| unreadable("the reply ended while thinking".to_owned()))?;
        return read(&thought[end..]).map_err(unreadable);
    }
    let Some(end) = thinking::end(visible) else { return read(visible).map_err(unreadable) };
    let answer = read(&visible[end..]).map_err(unreadable)?;
    let start = visible[..end].rfind('<').unwrap_or(end);
    match read(&visible[..start]) {
        Ok(before) if before != answer => {
            Err(unreadable("the reply answers differently before and after its closing thinking tag".to_owned()))
        }
        _ => Ok(answer),
    }
}

/// The last `most` characters of a text.
pub(super) fn tail(text: &str, most: usize) -> &str {
    let start = text.char_indices().rev().nth(most.saturating_sub(1)).map_or(0, |(start, _)| start);
    &text[start..]
}

/// The first `most` characters of a text.
pub(super) fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}
