//! Text and numbers as they may stand in the page.
//!
//! Text from outside is never markup and never an address: `maud` escapes it, and what would show nothing, or turn round what follows, is
//! spelled out here.

use std::fmt::Write;

use maud::{Markup, Render, html};
use rageval_runner::model::{CaseId, MetricKey};

/// Characters of a text that the static part of the page shows; the case's page has the whole.
pub(super) const SHOWN: usize = 600;

/// A text from outside, cut where it is longer than [`SHOWN`].
pub(super) struct Outside<'t>(pub(super) &'t str);

impl Render for Outside<'_> {
    fn render(&self) -> Markup {
        let kept = cut(self.0, SHOWN);
        html! {
            bdi dir="auto" {
                @for piece in pieces(kept) {
                    @match piece {
                        Piece::Plain(text) => (text),
                        Piece::Hidden(c) => span.ctl { (name(c)) },
                    }
                }
                @if kept.len() < self.0.len() { "…" }
            }
        }
    }
}

/// A command that people copy: whole, and spelled out like any text.
pub(super) struct Code<'t>(pub(super) &'t str);

impl Render for Code<'_> {
    fn render(&self) -> Markup {
        html! {
            code dir="ltr" {
                @for piece in pieces(self.0) {
                    @match piece {
                        Piece::Plain(text) => (text),
                        Piece::Hidden(c) => span.ctl { (name(c)) },
                    }
                }
            }
        }
    }
}

/// The way to a case's page. The address is `#case=` and the id with every byte but letters, digits, `-`, `_` and `.` percent-encoded, so that it
/// leads nowhere but into this file.
pub(super) struct CaseLink<'c>(pub(super) &'c CaseId);

impl Render for CaseLink<'_> {
    fn render(&self) -> Markup {
        html! { a href=(format!("#case={}", encoded(self.0.as_str()))) { (Outside(self.0.as_str())) } }
    }
}

/// A metric's name, which breaks after `_` and before `@` alone.
pub(super) struct Metric<'m>(pub(super) &'m MetricKey);

impl Render for Metric<'_> {
    fn render(&self) -> Markup {
        let name = self.0.to_string().replace('@', "\0@").replace('_', "_\0");
        html! { @for (at, part) in name.split('\0').enumerate() { @if at > 0 { wbr; } (part) } }
    }
}

fn encoded(text: &str) -> String {
    let mut address = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            address.push(char::from(byte));
        } else {
            // Writing into a string does not fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    /// Shown as it stands.
    Plain(&'t str),
    /// Would show nothing, or change what the rest looks like.
    Hidden(char),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        if is_hidden(first) {
            rest = &rest[first.len_utf8()..];
            return Some(Piece::Hidden(first));
        }
        let end = rest.find(is_hidden).unwrap_or(rest.len());
        let (plain, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Plain(plain))
    })
}

/// Control characters but the blanks among them, and characters that show nothing or turn round what follows. `report.js` has the same list.
pub(super) fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control() && !matches!(c, '\n' | '\r' | '\t');
    }
    (c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn name(c: char) -> String {
    format!("U+{:04X}", u32::from(c))
}

/// The first so many characters of a text, or all of it.
pub(super) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A score or mean in a column of others: three decimals.
pub(super) fn number(number: f64) -> String {
    let text = format!("{number:.3}");
    if text == "-0.000" { "0.000".to_owned() } else { text }
}

/// A change, with its sign: `+0.020`, `−0.130`, `0.000`.
pub(super) fn change(change: f64) -> String {
    let text = number(change.abs());
    match change {
        _ if text == "0.000" => text,
        change if change < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// The difference of two scores as [`number`] shows them: the row's numbers subtract.
pub(super) fn change_between(before: f64, now: f64) -> String {
    let shown = |number: f64| (number * 1000.0).round() / 1000.0;
    change(shown(now) - shown(before))
}

/// The head of a table.
pub(super) fn heads(names: &[&str]) -> Markup {
    html! { thead { tr { @for name in names { th scope="col" { (name) } } } } }
}

/// How many of something: `1 case`, `3 cases`.
pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        let shown = Outside("</script><img src=x onerror=alert(1)>\u{202e}abc\u{0}").render().into_string();
        assert_eq!(
            shown,
            "<bdi dir=\"auto\">&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;<span class=\"ctl\">U+202E</span>abc\
             <span class=\"ctl\">U+0000</span></bdi>"
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let shown = Outside(&"退".repeat(SHOWN + 1)).render().into_string();
        assert_eq!(shown.matches('退').count(), SHOWN);
        assert!(shown.ends_with("…</bdi>"));
    }

    #[test]
    fn an_id_leads_into_this_file_alone() {
        let id = CaseId::new("a\" onclick=\"x://退").expect("an id");
        let link = CaseLink(&id).render().into_string();
        assert!(link.starts_with("<a href=\"#case=a%22%20onclick%3D%22x%3A%2F%2F%E9%80%80\">"), "{link}");
    }

    #[test]
    fn a_metric_breaks_between_its_words() {
        let name = MetricKey::parse("context_recall@5").expect("a metric");
        assert_eq!(Metric(&name).render().into_string(), "context_<wbr>recall<wbr>@5");
    }

    #[test]
    fn numbers_line_up() {
        assert_eq!(
            (number(0.5), number(-0.0), change(-0.13), change(0.0001)),
            ("0.500".into(), "0.000".into(), "−0.130".into(), "0.000".into())
        );
    }

    #[test]
    fn numbers_subtract_as_they_are_shown() {
        for (before, now) in [(0.7004, 0.7006), (0.5006, 0.7004), (1.0, 0.866_66), (0.1, 0.1)] {
            let thousandths =
                |text: String| (text.replace('−', "-").parse::<f64>().expect("a number") * 1000.0).round();
            let shown = thousandths(number(now)) - thousandths(number(before));
            assert!((thousandths(change_between(before, now)) - shown).abs() < 0.5, "{before} {now}");
        }
    }
}
