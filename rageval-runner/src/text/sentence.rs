//! Splits text into sentences without losing any of it.

use unicode_segmentation::UnicodeSegmentation;

use super::{normal::normalise, stop::is_stop_word};
use crate::model::Language;

/// How far around a boundary we look for the word before and after it: bounds the work on hostile input.
const REACH: usize = 64;

/// From this many characters on, a line without a full stop at its end is taken as wrapped, not as a heading.
const WRAPPED: usize = 50;

/// The sentences of a text in order, each with the white space that follows it: joined together they are the text again.
///
/// Unicode's annex 29 proposes boundaries; these rules then move or drop them. A full stop after an abbreviation (`Dr.`, `Sra.`,
/// `p. ex.`, `No. 5`), an initial, or a list number ends nothing; one inside a number, an address or an e-mail neither. Closing quotes
/// and brackets stay with the sentence they close, opening ones go to the next. `。！？` and `？！` end sentences without a space. A line
/// break ends a list item, a heading, a table row, or a line with a full stop; inside a wrapped paragraph it ends nothing.
/// An empty text has no sentences; one of white space alone is one sentence.
pub fn sentences(text: &str, language: Language) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    for boundary in boundaries(text) {
        if start < boundary && boundary < text.len() && ends_here(text, start, boundary, language) {
            out.push(&text[start..boundary]);
            start = boundary;
        }
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

/// The sentences that say something: trimmed, and without those that hold no letter or digit (rules, bare emoji, stray punctuation).
///
/// This is what judges are shown and what scores count.
pub fn statements(text: &str, language: Language) -> Vec<&str> {
    sentences(text, language)
        .into_iter()
        .map(str::trim)
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric))
        .collect()
}

/// Every place where a sentence may end, ascending: annex 29's, and those it lacks or puts behind an opening quote.
fn boundaries(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    for (at, piece) in text.split_sentence_bound_indices() {
        places.extend(breaks_inside(piece).into_iter().map(|inside| at + inside));
        let end = at + piece.len();
        // Annex 29 counts an opening quote after a full stop as closing: `他走了。“好。”` would break behind it.
        let trimmed = piece.trim_end_matches(is_opening);
        places.push(if trimmed.len() < piece.len() && trimmed.trim_end_matches(is_closing).ends_with(is_full_stop) {
            at + trimmed.len()
        } else {
            end
        });
    }
    places.sort_unstable();
    places
}

/// Breaks that annex 29 does not see: an ellipsis before a space and a capital or Han character, and a full stop before a number that a
/// word in lower case follows (`He won. 5 users lost.`).
fn breaks_inside(piece: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, mark) in piece.match_indices('…') {
        let rest = piece[at + mark.len()..].trim_start_matches(is_closing);
        let next = rest.trim_start_matches([' ', '\t', '\u{3000}']);
        if next.len() < rest.len() && next.chars().next().is_some_and(|c| c.is_uppercase() || super::word::is_han(c)) {
            found.push(piece.len() - next.len());
        }
    }
    for (at, mark) in piece.match_indices(". ") {
        let is_number_next = piece[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit());
        // `2. 4 miles` is a number that was pulled apart.
        if is_number_next && !piece[..at].ends_with(|c: char| c.is_ascii_digit()) {
            found.push(at + mark.len());
        }
    }
    found
}

/// Whether the sentence that began at `start` really ends at a proposed boundary.
fn ends_here(text: &str, start: usize, boundary: usize, language: Language) -> bool {
    let (before, after) = (&text[start..boundary], &text[boundary..]);
    // White space stays with what it follows. Also keeps the work linear over long runs of it.
    if after.starts_with(char::is_whitespace) {
        return false;
    }
    let said = before.trim_end();
    if said.is_empty() {
        return false;
    }
    let gap = &before[said.len()..];
    if gap.contains(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}']) {
        return line_ends_sentence(said, gap, after, language);
    }
    if said.ends_with(['》', '〉']) || is_inside_title(said, after) {
        return false;
    }
    // `；` and other marks never come here; what does is a full stop of some kind, with closing marks behind it.
    let bare = said.trim_end_matches(is_closing);
    let Some(mark) = bare.chars().next_back() else { return true };
    if is_list_marker(text, start, said) {
        return false;
    }
    let next = after.chars().next();
    match mark {
        // `六一．五`.
        '．' if gap.is_empty() && is_decimal(bare, next) => false,
        // `（Electronic Arts Inc.）是`: the bracket closes a name inside the sentence.
        '.' if said[bare.len()..].contains([')', '）']) && is_short(bare) => next.is_some_and(char::is_uppercase),
        '.' | '．' => !(bare.len() == said.len() && is_abbreviated(bare, after, language)),
        '?' | '!' if gap.is_empty() => {
            // `http://a.b/?q=1` and `a!=b`; but `好!下一句` and `Yes!No`.
            !in_address(bare) && next.is_none_or(|c| c.is_uppercase() || super::word::is_han(c) || is_opening(c))
        }
        // `"Is it?" she asked.`
        '?' | '!' if bare.len() < said.len() => !next.is_some_and(char::is_lowercase),
        _ => true,
    }
}

/// Whether a Chinese title that was opened before a place is closed after it: `《你好吗？我很好》`. Titles are short, so not far is looked.
fn is_inside_title(said: &str, after: &str) -> bool {
    let near = &said[boundary_from(said, said.len().saturating_sub(TITLE))..];
    let ahead = &after[..boundary_from(after, TITLE.min(after.len()))];
    [('《', '》'), ('〈', '〉')].into_iter().any(|(open, close)| {
        let is_open = near.rfind(open).is_some_and(|at| !near[at..].contains(close));
        is_open && ahead.find(close).is_some_and(|end| !ahead[..end].contains(open))
    })
}

/// The longest title looked for, in bytes.
const TITLE: usize = 180;

/// Whether a full-width full stop stands between two digits or numerals.
fn is_decimal(bare: &str, next: Option<char>) -> bool {
    let is_digit = |c: char| c.is_numeric() || "〇零一二三四五六七八九十".contains(c);
    bare.chars().rev().nth(1).is_some_and(is_digit) && next.is_some_and(is_digit)
}

/// Whether a text with a full stop at its end ends with a shortened word of the lists.
fn is_short(bare: &str) -> bool {
    let (word, _) = last_word(bare.trim_end_matches('.'));
    let lower = word.to_lowercase();
    [ALWAYS, SOMETIMES].iter().any(|list| list.contains(&lower.as_str()))
}

/// The last word of a text, without Chinese that stands before it unspaced, and what opens or parts names in front of it, if anything.
fn last_word(text: &str) -> (&str, Option<char>) {
    let word = tail(text).rsplit(char::is_whitespace).next().unwrap_or_default();
    let cut = word.char_indices().rev().find(|(_, c)| {
        is_opening(*c) || *c == '·' || super::word::is_han(*c) || matches!(c, '，' | '、' | '：' | '。')
    });
    match cut {
        Some((at, c)) => (&word[at + c.len_utf8()..], Some(c)),
        None => (word.trim_start_matches(|c: char| !c.is_alphanumeric()), None),
    }
}

/// Whether a line break ends the sentence: always, unless both lines are one wrapped paragraph.
fn line_ends_sentence(said: &str, gap: &str, after: &str, language: Language) -> bool {
    if 1 < gap.matches('\n').count()
        || said.trim_end_matches(is_closing).ends_with(|c| is_full_stop(c) || c == ':' || c == '：')
    {
        // An abbreviation at the end of a wrapped line.
        return !(gap.matches('\n').count() == 1 && said.ends_with('.') && is_abbreviated(said, after, language));
    }
    let line_start = said.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line = said[line_start..].trim_start();
    let next_line = after.trim_start();
    if starts_block(next_line) || line.starts_with(['#', '|']) || line.ends_with('|') {
        return true;
    }
    let Some(next) = next_line.chars().next() else { return true };
    if line.ends_with([',', '，', '、', '(', '（', '-', '/']) || next.is_lowercase() {
        return false;
    }
    if starts_block(line) {
        return true;
    }
    let last_word = line.rsplit(char::is_whitespace).next().unwrap_or(line);
    let hangs = last_word.len() <= REACH
        && is_stop_word(&normalise(last_word), language)
        && last_word.chars().all(char::is_lowercase);
    !(hangs || WRAPPED <= line.chars().take(WRAPPED).count() && !super::word::is_han(next))
}

/// Whether a line begins a list item, a heading, a table row, a quotation or a fence.
fn starts_block(line: &str) -> bool {
    let mut chars = line.chars();
    match chars.next() {
        Some('#' | '|' | '>' | '•' | '·' | '●' | '○' | '▪' | '■' | '–' | '—' | '※' | '【') => true,
        Some('-' | '*' | '+') => chars.next().is_none_or(|c| c.is_whitespace() || c == '-' || c == '*'),
        Some('`') => line.starts_with("```"),
        Some('(' | '（') => marker_length(chars.as_str()).is_some(),
        Some('①'..='⑳') => true,
        Some(_) => marker_length(line).is_some(),
        None => false,
    }
}

/// Length of `12.`, `3)`, `a)`, `iv.`, `三、` at the start of a line.
fn marker_length(line: &str) -> Option<usize> {
    // At most four letters or three Han characters stand before the mark: looking no further keeps this cheap on a line of any length.
    let end =
        line.char_indices().take(5).find(|(_, c)| matches!(c, '.' | ')' | '）' | '、' | '．')).map(|(at, _)| at)?;
    let label = &line[..end];
    let mark = line[end..].chars().next()?;
    let after = line[end + mark.len_utf8()..].chars().next();
    let is_number = label.chars().all(|c| c.is_ascii_digit()) && label.len() <= 3;
    let is_letter = label.len() == 1 && label.chars().all(|c| c.is_ascii_alphabetic());
    let is_roman = label.len() <= 4 && label.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'I' | 'V' | 'X'));
    let is_han = label.chars().count() <= 3 && label.chars().all(|c| "一二三四五六七八九十".contains(c));
    let fits = match mark {
        '、' => is_han || is_number,
        '.' => (is_number || is_letter || is_roman) && after.is_none_or(char::is_whitespace),
        _ => is_number || is_letter || is_roman || is_han,
    };
    (!label.is_empty() && fits).then_some(end + mark.len_utf8())
}

/// A statement without the list number or bullet it starts with.
pub fn without_marker(statement: &str) -> &str {
    let line =
        statement.trim_start().trim_start_matches(['-', '*', '+', '•', '·', '●', '▪', '#', '>', '–', '—']).trim_start();
    marker_length(line).map_or(line, |end| line[end..].trim_start())
}

/// Whether all that was said since the sentence began is a list number at the start of a line: `1.`, `b.`, `- 2.`.
fn is_list_marker(text: &str, start: usize, said: &str) -> bool {
    let at_line_start =
        text[..start].trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| matches!(c, '\n' | '\r'));
    let label = said
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '-' | '*' | '+' | '•' | '(' | '（' | '#' | '>'));
    at_line_start && label.len() <= 8 && marker_length(label) == Some(label.len())
}

/// Whether the full stop at the end of `said` belongs to a shortened word, so that the sentence goes on with `after`.
fn is_abbreviated(said: &str, after: &str, language: Language) -> bool {
    let Some(head) = said.strip_suffix('.') else { return false };
    let (word, mark) = last_word(head);
    let before = tail(head)
        .rsplit(char::is_whitespace)
        .nth(1)
        .unwrap_or_default()
        .trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_opened = mark.is_some_and(|c| matches!(c, '(' | '[' | '（' | '［'));
    let next = first_word(after);
    let starts_number = next.starts_with(|c: char| c.is_ascii_digit());
    let next_lower = next.to_lowercase();
    let next_is_function_word = is_stop_word(&next_lower, language)
        || is_stop_word(&next_lower, Language::En)
        || is_stop_word(&next_lower, Language::Pt);
    let lower = word.to_lowercase();
    if ALWAYS.contains(&lower.as_str()) {
        return true;
    }
    let is_capital = word.starts_with(char::is_uppercase);
    // `(lit. "..")`, `(max. 5)`, `(d. 1560)`; `(No. He left.)` is a sentence.
    if is_opened && !is_capital && (1..=4).contains(&word.chars().count()) && word.chars().all(char::is_alphabetic) {
        return !matches!(lower.as_str(), "yes" | "no" | "ok" | "sim" | "não");
    }
    // `Griswold v. Connecticut`.
    if word == "v" && next.starts_with(char::is_uppercase) && before.starts_with(char::is_uppercase) {
        return true;
    }
    // A capital alone is an initial: `George C. Walker`.
    let is_letter = is_capital && word.chars().count() == 1;
    if BEFORE_NUMBER.contains(&lower.as_str()) && !is_letter {
        let is_roman = !next.is_empty() && next.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L' | 'C'));
        return starts_number || (is_roman && PARTS.contains(&lower.as_str()));
    }
    if lower == "ex" && matches!(before, "p." | "por" | "P." | "(p.") {
        return true;
    }
    if lower == "p" && next == "ex" {
        return true;
    }
    // Words that also end sentences: the capital after them decides only when it is no sentence opener.
    let is_name_part = SOMETIMES.contains(&lower.as_str())
        || (word.contains('.') && word.split('.').all(|part| part.chars().count() == 1));
    if is_name_part {
        return !next.is_empty() && !next_is_function_word && !starts_number;
    }
    let is_initial =
        word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word.chars().all(char::is_alphabetic);
    // `J. A. Smith`: the next word is an initial too, not the article.
    let is_initial_next = next.chars().count() == 1
        && next.starts_with(char::is_uppercase)
        && after.trim_start().strip_prefix(next).is_some_and(|rest| rest.starts_with('.'));
    let is_name_next = next.starts_with(|c: char| c.is_uppercase() || (mark == Some('·') && super::word::is_han(c)));
    is_initial
        && (!next_is_function_word || is_initial_next)
        && is_name_next
        && (mark.is_some()
            || before.is_empty()
            || before.starts_with(|c: char| c.is_uppercase() || super::word::is_han(c))
            || follows_list(head, before))
}

/// Whether an initial begins an item of a list of names: after a comma, or after the word before its last name.
fn follows_list(head: &str, before: &str) -> bool {
    let is_joint = matches!(
        before,
        "and" | "e" | "by" | "with" | "por" | "com" | "of" | "de" | "from" | "to" | "as" | "or" | "ou"
    );
    is_joint || tail(head).trim_end_matches(char::is_uppercase).trim_end().ends_with([',', '，', '、', ';'])
}

/// Whether the last word of a text is a web address or an e-mail.
fn in_address(said: &str) -> bool {
    let word = tail(said).rsplit(char::is_whitespace).next().unwrap_or_default();
    word.contains("://") || word.starts_with("www.") || (word.contains('@') && word.contains('.'))
}

/// The last characters of a text, at most [`REACH`] bytes.
fn tail(text: &str) -> &str {
    &text[boundary_from(text, text.len().saturating_sub(REACH))..]
}

/// The first place between characters at or after a byte.
fn boundary_from(text: &str, mut from: usize) -> usize {
    while !text.is_char_boundary(from) {
        from += 1;
    }
    from
}

/// The first run of letters and digits after opening marks, at most [`REACH`] bytes of it.
fn first_word(text: &str) -> &str {
    let text = text.trim_start().trim_start_matches(|c: char| is_opening(c) || c == '"' || c == '\'');
    let end = text.char_indices().find(|(at, c)| !c.is_alphanumeric() || REACH <= *at).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn is_full_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '。' | '！' | '？' | '…' | '．' | '｡' | '‼' | '⁇' | '⁈' | '⁉')
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | ')'
            | ']'
            | '}'
            | '”'
            | '’'
            | '»'
            | '›'
            | '」'
            | '』'
            | '）'
            | '】'
            | '》'
            | '〉'
            | '］'
            | '｝'
            | '*'
            | '_'
    )
}

fn is_opening(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '“'
            | '‘'
            | '«'
            | '‹'
            | '「'
            | '『'
            | '（'
            | '【'
            | '《'
            | '〈'
            | '［'
            | '｛'
            | '„'
            | '‚'
    )
}

/// Titles and the like: a name or number always follows.
const ALWAYS: &[&str] = &[
    "dr", "dra", "drs", "mr", "mrs", "ms", "mx", "prof", "profa", "sr", "sra", "srta", "srs", "sras", "st", "sto",
    "sta", "rev", "hon", "gen", "col", "capt", "cap", "lt", "sgt", "gov", "sen", "rep", "pres", "eng", "engª", "engº",
    "arq", "adv", "exmo", "exma", "ilmo", "ilma", "dom", "pe", "e.g", "i.e", "cf", "vs", "v.s", "viz", "ca", "approx",
    "aprox", "obs", "mt", "av", "ph.d", "tel", "n.º", "n.ª", "n.o", "al",
];

/// Short for something numbered, when a number follows; else a word at the end of a sentence (`No.`, `ten pp.`).
const BEFORE_NUMBER: &[&str] = &[
    "no", "nos", "nr", "nº", "nᵒ", "num", "núm", "fig", "figs", "tab", "eq", "eqs", "sec", "secs", "ch", "chap", "cap",
    "vol", "vols", "art", "arts", "p", "pp", "pg", "pag", "pág", "págs", "ref", "refs", "v", "ver", "ed", "par",
    "item", "c", "sect", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "fev",
    "abr", "mai", "ago", "set", "out", "dez", "d", "b", "fl", "max", "min", "máx", "mín",
];

/// Those of them that Roman numerals follow too.
const PARTS: &[&str] =
    &["p", "pp", "pg", "pág", "págs", "vol", "vols", "ch", "chap", "cap", "art", "arts", "tab", "fig", "v"];

/// Ends that also end sentences.
const SOMETIMES: &[&str] =
    &["inc", "ltd", "ltda", "co", "corp", "jr", "bros", "cia", "dept", "univ", "a.m", "p.m", "u.s", "s.a"];

#[cfg(test)]
mod tests;
