//! One line of a terminal: what may stand in it, how long it is, how numbers are written.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::shell;
use crate::{gate::tally::Aggregate, stats::Interval};

/// Columns of a line.
pub const COLUMNS: usize = 100;

/// Columns of the label at the start of a line.
pub const LABEL: usize = 12;

/// Columns of a difference's mark and indentation that are kept.
const DEEPEST: usize = 12;

/// Characters of a text that are looked at; more never fit on a line.
const READ_AHEAD: usize = 2_000;

/// Text from outside as it may stand inside a line: without line ends, terminal sequences and other control characters, with invisible and
/// direction-changing characters spelled out, blanks joined, and without anything that build servers take for a command.
pub fn visible(text: &str) -> String {
    shown(text.chars().take(READ_AHEAD), text.len().min(READ_AHEAD))
}

/// A line as it may be printed: one that a build server would take for a command, since it begins as one, gets a bar.
pub fn no_command(line: &str) -> Cow<'_, str> {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    if line.trim_start_matches(is_blank).starts_with("::") { format!("| {line}").into() } else { line.into() }
}

/// As [`visible`], of the whole text, however long it is.
pub fn visible_whole(text: &str) -> String {
    shown(text.chars(), text.len())
}

fn shown(chars: impl Iterator<Item = char> + Clone, length: usize) -> String {
    let mut shown = String::with_capacity(length);
    let mut chars = chars.peekable();
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
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// A text from outside in at most so many columns, `…` at the end where it was longer.
pub fn shortened(text: &str, columns: usize) -> String {
    let was_cut = text.chars().nth(READ_AHEAD).is_some();
    let text = visible(text);
    if text.width() <= columns && !was_cut {
        return text;
    }
    let kept = &text[..fitting(&text, columns.saturating_sub(1))];
    format!("{}…", kept.trim_end())
}

/// Bytes of a text's graphemes that fit into so many columns.
fn fitting(text: &str, columns: usize) -> usize {
    let mut width = 0;
    let fits = text.graphemes(true).take_while(|grapheme| {
        width += grapheme.width();
        width <= columns
    });
    fits.map(str::len).sum()
}

/// A labelled text in up to so many lines, at least one, cut where it is longer still. Lines after the first start with a bar, since text from outside
/// must start no line.
pub fn lines_of(label: &str, text: &str, most: usize) -> Vec<String> {
    wrapped(label, &visible(text), most)
}

/// The same of the whole text, in as many lines as it takes.
pub fn whole_lines_of(label: &str, text: &str) -> Vec<String> {
    wrapped(label, &visible_whole(text), usize::MAX)
}

/// A text whose line breaks count, such as a prompt: one line each, not broken, behind a bar, with its indentation.
pub fn whole_block(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        format!("{:>LABEL$}{}{}", "| ", &line[..indent], visible_whole(&line[indent..]))
    };
    text.lines().map(line).collect()
}

fn wrapped(label: &str, text: &str, most: usize) -> Vec<String> {
    let mut rest = text;
    let mut lines = Vec::new();
    let mut start = format!("{label:<LABEL$}");
    while lines.len() + 1 < most {
        // A single cluster can be wider than a line, and is cut nowhere.
        let first = rest.graphemes(true).next().map_or(0, str::len);
        let fits = fitting(rest, COLUMNS - LABEL).max(first);
        if fits == rest.len() {
            break;
        }
        // Break at the last blank, unless that leaves most of the line empty, as in scripts without blanks.
        let end = rest[..fits].rfind(' ').filter(|blank| *blank > fits / 2).unwrap_or(fits);
        lines.push(format!("{start}{}", rest[..end].trim_end()));
        rest = rest[end..].trim_start();
        start = format!("{:>LABEL$}", "| ");
    }
    lines.push(format!("{start}{}", shortened(rest, COLUMNS - LABEL)));
    lines
}

/// A labelled line, cut to the width. Every line of a failure starts with a word of ours, so none can be a command of a build server.
pub fn line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{}", shortened(text, COLUMNS - LABEL))
}

/// A line of a difference, with its mark and its indentation as they stand.
pub fn diff_line(difference: &str) -> String {
    let text = difference.trim_start_matches([' ', '+', '-']);
    let mark = &difference[..(difference.len() - text.len()).min(DEEPEST)];
    let columns = COLUMNS - LABEL - mark.len();
    format!("{:<LABEL$}{mark}{}", "diff", shortened(text, columns))
}

/// A labelled line that may be longer than the width: a command that people copy must be whole.
pub fn whole_line(label: &str, text: &str) -> String {
    format!("{label:<LABEL$}{}", visible(text))
}

/// Lines under one label, each whole.
pub fn whole_lines(label: &str, lines: &[String]) -> Vec<String> {
    let label_of = |at: usize| if at == 0 { label } else { "" };
    lines.iter().enumerate().map(|(at, text)| whole_line(label_of(at), text)).collect()
}

/// The page that says of each red text what it means and what to do.
pub const RED_TEXTS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/red.md");

/// What stands in the place of a test target where the run had none: `cargo rageval run` made it.
pub const NO_TARGET: &str = "rageval-run";

/// The command that runs one trial alone.
pub fn run_alone(target: &str, trial: &str) -> String {
    let quoted = shell::quoted(trial);
    if target == NO_TARGET {
        // A gate is decided over its whole population.
        return if trial.starts_with("case::") {
            format!("cargo rageval run --case {quoted}")
        } else {
            "cargo rageval gate".to_owned()
        };
    }
    format!("cargo test --test {target} -- --exact {quoted}")
}

/// The command that shows changed verdicts, for a person to accept.
pub fn accept_snapshots(target: &str) -> &'static str {
    // cargo-insta finds no snapshots outside a Cargo workspace.
    if target == NO_TARGET { "cargo rageval snapshots accept" } else { "cargo insta review" }
}

/// A list of names in at most so many columns, with the count of what was left out.
pub fn listed<T: std::fmt::Display>(names: &[T], columns: usize) -> String {
    let mut list = String::new();
    for (i, name) in names.iter().enumerate() {
        let name = visible(&name.to_string());
        let and_more = |count: usize| if count == 0 { String::new() } else { format!(" and {count} more") };
        let separator = if i == 0 { "" } else { ", " };
        let room = columns.saturating_sub(list.width() + separator.width() + and_more(names.len() - i - 1).width());
        if name.width() > room && i > 0 {
            return list + &and_more(names.len() - i);
        }
        list.push_str(separator);
        list.push_str(&shortened(&name, room));
    }
    list
}

/// A number as written in a file, with at least two decimals: `0.80`.
pub fn bar(number: f64) -> String {
    at_least_two_decimals(format!("{number}"))
}

/// A probability in four decimals; one that they can't tell from 0 is `< 0.0001`, since none is 0.
pub fn probability(p: f64) -> String {
    if p < 0.000_05 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
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

/// An interval in two decimals, three where two would show no width: `[0.88, 0.94]`.
pub fn interval_text(interval: &Interval) -> String {
    let decimals = if interval.high - interval.low < 0.02 { 3 } else { 2 };
    format!("[{:.decimals$}, {:.decimals$}]", interval.low, interval.high)
}

/// An aggregate with what it was made from: `mean 0.912 [0.88, 0.94] over 57 of 60 (3 not applicable)`.
pub fn aggregate(aggregate: &Aggregate) -> String {
    let Aggregate { name, value, interval, scored, not_applicable, unmeasured } = aggregate;
    let interval = interval.as_ref().map(|limits| format!(" {}", interval_text(limits))).unwrap_or_default();
    let total = scored + not_applicable + unmeasured;
    let left_out: Vec<String> = [(not_applicable, "not applicable"), (unmeasured, "unmeasured")]
        .into_iter()
        .filter(|(count, _)| **count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let left_out = if left_out.is_empty() { String::new() } else { format!(" ({})", left_out.join(", ")) };
    format!("{name} {value:.3}{interval} over {scored} of {total}{left_out}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_red_texts_is_there() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/red.md");
        assert!(
            std::path::Path::new(docs).is_file() && RED_TEXTS.ends_with("rageval/blob/main/docs/red.md"),
            "{RED_TEXTS}"
        );
    }

    #[test]
    fn terminal_sequences_are_dropped_whole() {
        for (text, expected) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;5;196mred", "red"),
            ("\u{9b}31mred", "red"),
            ("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{7}", "link"),
            ("\u{1b}]never ends", "never ends"),
            ("\u{1b}", ""),
            ("a\u{1b}[", "a"),
            ("a\u{0}\u{8}b", "ab"),
        ] {
            assert_eq!(visible(text), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_are_joined_and_invisible_characters_spelled_out() {
        assert_eq!(visible("  a\r\n\tb\u{2028}c\u{3000}d  "), "a b c d");
        assert_eq!(visible("a\u{202e}b\u{200b}c\u{feff}"), "a<U+202E>b<U+200B>c<U+FEFF>");
        assert_eq!(visible("👩\u{200d}🚀 ação 退款"), "👩\u{200d}🚀 ação 退款");
    }

    #[test]
    fn commands_of_build_servers_are_broken() {
        assert_eq!(visible("a ##[error]b"), "a # #[error]b");
        assert_eq!(visible("##vso[task.setvariable]"), "# #vso[task.setvariable]");
        assert_eq!(visible("## A heading"), "## A heading");
        assert!(line("answer", "::error::x").starts_with("answer "));
        assert_eq!(
            (no_command(" ::error::x"), no_command("a ::error::x")),
            ("|  ::error::x".into(), "a ::error::x".into())
        );
    }

    #[test]
    fn a_long_text_is_broken_at_blanks_and_no_line_starts_with_it() {
        let text = "::error ".repeat(40);
        let lines = lines_of("answer", &text, 3);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("answer      ::error") && lines[1].starts_with("          | ::error"),
            "{lines:#?}"
        );
        assert!(lines[2].ends_with('…') && lines.iter().all(|line| line.width() <= COLUMNS), "{lines:#?}");
        assert_eq!(lines_of("answer", &"退".repeat(100), 9).len(), 3);
        assert_eq!(lines_of("answer", "short", 3), ["answer      short"]);
        assert_eq!(lines_of("answer", "", 3), ["answer      "]);
    }

    #[test]
    fn a_difference_keeps_its_indentation() {
        assert_eq!(diff_line("+   supported: a\n::error::b"), "diff        +   supported: a ::error::b");
        assert_eq!(diff_line("  a"), "diff          a");
        assert_eq!(diff_line(""), "diff        ");
        assert_eq!(diff_line(&format!("{}a", " ".repeat(300))).width(), LABEL + DEEPEST + 1);
    }

    #[test]
    fn texts_are_cut_by_columns_and_never_inside_a_character() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
        assert_eq!(shortened("退款期限", 8), "退款期限");
        assert_eq!(shortened("退款期限", 7), "退款期…");
        assert_eq!(shortened("退款期限", 6), "退款…");
        assert_eq!(shortened("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(shortened(&"x".repeat(1_000_000), 3), "xx…");
    }

    #[test]
    fn numbers_show_on_which_side_they_lie() {
        for (number, bar, expected) in [
            (0.7966, 0.80, "0.7966"),
            (0.5, 0.8, "0.50"),
            (2.0 / 3.0, 0.8, "0.6667"),
            (0.799_999_9, 0.8, "0.7999999"),
            (0.800_01, 0.8, "0.80001"),
            (0.8, 0.8, "0.80"),
            (0.0, 0.5, "0.00"),
            (1.0, 0.5, "1.00"),
        ] {
            assert_eq!(against(number, bar), expected);
        }
    }

    #[test]
    fn bars_are_shown_as_written() {
        for (number, expected) in [(0.8, "0.80"), (0.0, "0.00"), (1.0, "1.00"), (0.123_456, "0.123456"), (0.05, "0.05")]
        {
            assert_eq!(bar(number), expected);
        }
    }

    #[test]
    fn nothing_is_shown_as_minus_zero() {
        assert_eq!(score(-0.000_001), "0.00");
        assert_eq!(score(-0.25), "-0.25");
    }

    #[test]
    fn an_aggregate_shows_what_it_was_made_from() {
        let mut mean = Aggregate {
            name: "mean",
            value: 0.912,
            interval: Some(Interval { low: 0.88, high: 0.94 }),
            scored: 57,
            not_applicable: 3,
            unmeasured: 0,
        };
        assert_eq!(aggregate(&mean), "mean 0.912 [0.88, 0.94] over 57 of 60 (3 not applicable)");
        mean.unmeasured = 2;
        mean.interval = None;
        assert_eq!(aggregate(&mean), "mean 0.912 over 57 of 62 (3 not applicable, 2 unmeasured)");
        mean.interval = Some(Interval { low: 0.9081, high: 0.9152 });
        assert!(aggregate(&mean).starts_with("mean 0.912 [0.908, 0.915] over"));
    }

    #[test]
    fn a_command_survives_a_quote_in_a_name() {
        assert_eq!(run_alone("t", "case::en::it's"), r"cargo test --test t -- --exact 'case::en::it'\''s'");
        assert_eq!(run_alone(NO_TARGET, "case::en::it's"), r"cargo rageval run --case 'case::en::it'\''s'");
        assert_eq!(run_alone(NO_TARGET, "gate::recall@5::mean"), "cargo rageval gate");
    }

    #[test]
    fn lists_say_how_many_are_left_out() {
        assert_eq!(listed(&["a", "b", "c"], 20), "a, b, c");
        assert_eq!(listed(&["aaaa", "bbbb", "cccc"], 15), "aaaa and 2 more");
        assert_eq!(listed(&["aaaaaaaaaaaaaaa", "b"], 19), "aaaaaaa…, b");
        assert_eq!(listed::<&str>(&[], 8), "");
    }
    #[test]
    fn a_small_probability_is_not_shown_as_none() {
        assert_eq!([0.25, 0.000_06, 0.000_04].map(probability), ["0.2500", "0.0001", "< 0.0001"]);
    }
}
