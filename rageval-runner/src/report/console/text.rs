//! One line of a terminal: what may stand in it, how long it is, how numbers are written.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::gate::tally::Aggregate;

/// Columns of a line.
pub const COLUMNS: usize = 100;

/// Columns of the label at the start of a line.
pub const LABEL: usize = 12;

/// Characters of a text that are looked at; more never fit on a line.
const READ_AHEAD: usize = 2_000;

/// Text from outside as it may stand inside a line: without line ends, terminal sequences and other control characters, with invisible and
/// direction-changing characters spelled out, blanks joined, and without anything that build servers take for a command.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(READ_AHEAD));
    let mut chars = text.chars().take(READ_AHEAD).peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_parameters(&mut chars),
            c if c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}') => {
                if !shown.is_empty() && !shown.ends_with(' ') {
                    shown.push(' ');
                }
            }
            c if c.is_control() => {}
            c if is_invisible(c) => shown.extend(["<U+", &format!("{:04X}", u32::from(c)), ">"]),
            // `##[error]` and `##vso[...]` are commands wherever they stand in a line.
            '#' if shown.ends_with('#')
                && chars.peek().is_some_and(|next| *next == '[' || next.is_ascii_alphabetic()) =>
            {
                shown.push_str(" #");
            }
            c => shown.push(c),
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// Skips the rest of a terminal sequence after its escape character.
fn skip_sequence(chars: &mut std::iter::Peekable<impl Iterator<Item = char> + Clone>) {
    match chars.next() {
        Some('[') => skip_parameters(chars),
        // A title or a link: up to a bell or an escaped backslash. One that never ends is no sequence, and its text stays.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut ahead = chars.clone();
            while let Some(c) = ahead.next() {
                if c == '\u{7}' || (c == '\u{1b}' && ahead.next() == Some('\\')) {
                    *chars = ahead;
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

/// Skips parameters up to the letter that ends them.
fn skip_parameters(chars: &mut std::iter::Peekable<impl Iterator<Item = char>>) {
    while chars.next_if(|c| matches!(c, '\u{20}'..='\u{3f}')).is_some() {}
    let _ = chars.next_if(|c| matches!(c, '\u{40}'..='\u{7e}'));
}

/// Characters that show nothing or change the direction of what follows. The joiners of emoji and Indic scripts are not among them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text from outside in at most so many columns, `…` at the end where it was longer.
pub fn shortened(text: &str, columns: usize) -> String {
    let was_cut = text.chars().nth(READ_AHEAD).is_some();
    let text = visible(text);
    if text.width() <= columns && !was_cut {
        return text;
    }
    let mut kept = String::new();
    let mut width = 0;
    for grapheme in text.graphemes(true) {
        width += grapheme.width();
        if width + 1 > columns {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// A labelled line, cut to the width. Every line of a failure starts with a word of ours, so none can be a command of a build server.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{}", shortened(text, COLUMNS - LABEL))
}

/// A labelled line that may be longer than the width: a command that people copy must be whole.
pub fn whole_line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{}", visible(text))
}

/// The command that runs one trial alone.
pub fn run_alone(target: &str, trial: &str) -> String {
    format!("cargo test --test {target} -- --exact '{}'", trial.replace('\'', r"'\''"))
}

/// A list of names in at most so many columns, with the count of what was left out.
pub fn listed<T: std::fmt::Display>(names: &[T], columns: usize) -> String {
    let mut list = String::new();
    for (i, name) in names.iter().enumerate() {
        let name = visible(&name.to_string());
        let more = format!(" and {} more", names.len() - i);
        let separator = if i == 0 { "" } else { ", " };
        let is_last = i + 1 == names.len();
        let needed = list.width() + separator.width() + name.width() + if is_last { 0 } else { more.width() };
        if needed > columns {
            if i == 0 {
                return shortened(&name, columns);
            }
            list.push_str(&more);
            return list;
        }
        list.push_str(separator);
        list.push_str(&name);
    }
    list
}

/// A number as written in a file, with at least two decimals: `0.80`.
pub fn bar(number: f64) -> String {
    at_least_two_decimals(format!("{number}"))
}

/// A score in at most four decimals, at least two: `0.50`, `0.6667`.
pub fn score(number: f64) -> String {
    rounded(number, 4)
}

/// A number that was compared with another, in as many decimals as show on which side it lies: `0.7966` against 0.80.
pub fn against(number: f64, compared: f64) -> String {
    let side = number.partial_cmp(&compared);
    let shows_side = |text: &String| text.parse::<f64>().is_ok_and(|shown| shown.partial_cmp(&compared) == side);
    (4..=12).map(|decimals| rounded(number, decimals)).find(shows_side).unwrap_or_else(|| bar(number))
}

fn rounded(number: f64, decimals: usize) -> String {
    // A drop of -0.00001 is shown as 0.00.
    let text = format!("{number:.decimals$}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    at_least_two_decimals(if text == "-0" { "0".to_owned() } else { text.to_owned() })
}

fn at_least_two_decimals(mut text: String) -> String {
    let decimals = match text.split_once('.') {
        Some((_, decimals)) => decimals.len(),
        None => {
            text.push('.');
            0
        }
    };
    for _ in decimals..2 {
        text.push('0');
    }
    text
}

/// An aggregate with what it was made from: `mean 0.912 [0.88, 0.94] over 57 of 60 (3 not applicable)`.
pub fn aggregate(aggregate: &Aggregate) -> String {
    let Aggregate { name, value, interval, scored, not_applicable, unmeasured } = aggregate;
    let interval = match interval {
        // Two decimals, three where two would show no width.
        Some(interval) if interval.high - interval.low < 0.02 => {
            format!(" [{:.3}, {:.3}]", interval.low, interval.high)
        }
        Some(interval) => format!(" [{:.2}, {:.2}]", interval.low, interval.high),
        None => String::new(),
    };
    let total = scored + not_applicable + unmeasured;
    let left_out: Vec<String> = [(not_applicable, "not applicable"), (unmeasured, "unmeasured")]
        .into_iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!(" ({})", left_out.join(", ")) };
    format!("{name} {value:.3}{interval} over {scored} of {total}{left_out}")
}
