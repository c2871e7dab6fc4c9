//! Reads a score on a stated scale from a judge's prose.

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Unreadable,
    number::{self, Found, Notation},
    prose::{after_thinking, head, tail},
};

/// Characters before and behind a number that decide whether it is a score.
const AROUND: usize = 80;

/// Bytes before or behind the score in a line that holds little else.
const LONGEST_NAME: usize = 240;

/// The scale that a score was asked on, both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    least: f64,
    most: f64,
}

impl Scale {
    /// A scale from `least` to `most`; none where these are not finite or not in this order.
    pub fn new(least: f64, most: f64) -> Option<Self> {
        (least.is_finite() && most.is_finite() && least < most).then_some(Self { least, most })
    }

    /// The score where it lies on the scale.
    ///
    /// # Errors
    /// It lies outside or is no number. It is never clamped and the scale never guessed.
    pub fn holds(self, score: f64) -> Result<f64, String> {
        if score >= self.least && score <= self.most {
            Ok(score)
        } else {
            Err(format!("the score {score} is outside {} to {}", self.least, self.most))
        }
    }
}

/// The score that a reply in prose states: `Rating: 4`, `4/5`, `one out of five`, `nota 4,5 de 5`, `评分：4分`, or a number alone.
///
/// # Errors
/// No score is stated, several that differ, a range, or one outside the scale. A number that merely occurs in the prose, such as the last
/// one, is never taken.
pub fn read_score(text: &str, scale: Scale) -> Result<f64, Unreadable> {
    after_thinking(text, |text| prose_score(text, scale))
}

/// The number that a field's text is as a whole: `4`, `0,8`, `4/5`.
pub(super) fn whole_score(text: &str, scale: Scale) -> Result<f64, String> {
    let lower = text.to_lowercase();
    match line_score(lower.trim(), scale, Line::Alone) {
        Some(score) => scale.holds(score?),
        None => Err(format!("the score is `{}`, not a number", head(text, 40))),
    }
}

struct Patterns {
    emphasis: Regex,
    full_marks: Regex,
    label_direct: Regex,
    label_verbal: Regex,
    giving: Regex,
    after: Regex,
    article: Regex,
    range_after: Regex,
    of_most: Regex,
    line_before: Regex,
    line_after: Regex,
    gloss_after: Regex,
    list_item: Regex,
}

/// Words that announce a score.
const LABEL: &str = r"(?:scores?|scoring|ratings?|rates?|rated|graded?|marks?|pontuação|pontuacao|pontuo|nota|avaliação|classificação|评分|得分|分数|打分|总分|评级|boxed)";

static PATTERNS: LazyLock<Result<Patterns, regex::Error>> = LazyLock::new(|| {
    Ok(Patterns {
        emphasis: Regex::new(r"[*_`]+")?,
        full_marks: Regex::new(r"满分\s*[为是]?\s*[0-9]+\s*分?|[0-9]+\s*分制")?,
        label_direct: Regex::new(&format!(
            r#"(?:^|[^\p{{L}}]|[\p{{Han}}]){LABEL}(?:\s+final|\s+geral|\s+total|\s+overall)?(?:[\s:：=>"'“”\-—–(\[{{]|是|为){{0,12}}$"#
        ))?,
        label_verbal: Regex::new(&format!(
            r"(?:^|[^\p{{L}}]){LABEL}[\p{{L}} '’-]{{1,60}}?\b(?:of|is|as|at|be|a|an|it|this|was|de|é|com|em|perfect):?\s+$"
        ))?,
        giving: Regex::new(
            r"(?:\b(?:i|i'd|i’d|would|will|i'll) (?:also )?(?:give|award|assign|rate)|\b(?:give|giving|gives|award|assign|making|makes|earning|earns) (?:it|this|the summary|the response|the answer)|\bit (?:earns|deserves|gets|merits|receives)|\b(?:dou|merece|recebe|atribuo)|[给打得]|a perfect)(?: (?:it|this|the|summary|response|answer|at|a|an|um|uma|perfect|rating|score|of|as|ao?|à|[\p{L}]+ of)){0,5}\s*$",
        )?,
        after: Regex::new(
            r#"^(?:分|点|星)?(?:\s*(?:points?|stars?|pontos?|estrelas?)\b)?\s*(?:$|[.!?。！？,，;；)）\]}"'“”’<\n(（、]|[-—–]\s|(?:out|for|in|because|as|and|due|since|with|which|indicating|representing|meaning|but|so|to|perfect|on|porque|pois|por|em|com|mas)\b)"#,
        )?,
        article: Regex::new(r"\b(?:an?|um|uma|perfect|full)\s+$")?,
        range_after: Regex::new(r"^\s*(?:-|–|—|~|to|or|and|a|até|ou|e|到|至|或)\s*[0-9]")?,
        of_most: Regex::new(
            r"^(?:\s*分)?(?:\s*(?:points?|stars?|pontos?))?\s*(/|out of|of|de|em|sobre)\s*(?:an?\s+)?(?:possible\s+|total\s+)?",
        )?,
        line_before: Regex::new(r"^(?:[-•#>]\s*|[0-9]+[.)]\s+)?(?:[\p{L} ]{1,40}[:：]\s*)?$")?,
        line_after: Regex::new(r"^\s*(?:分|points?|stars?)?\s*[.。!]?\s*(?:[(（][^()（）]*[)）])?\s*[.。]?$")?,
        gloss_after: Regex::new(r"^\s*(?:[.:)\-—–(]\s|[(]|$)")?,
        list_item: Regex::new(r"(?m)^\s*[0-9]+[.)\-]\s")?,
    })
});

fn prose_score(text: &str, scale: Scale) -> Result<f64, String> {
    let patterns = PATTERNS.as_ref().map_err(|error| format!("the reader has a faulty pattern: {error}"))?;
    let lower = text.to_lowercase();
    let plain = patterns.emphasis.replace_all(lower.trim(), "");
    let plain = patterns.full_marks.replace_all(&plain, "");
    let plain = without_scale(&plain, scale);
    let mut scores = Vec::new();
    let numbers = number::all(&plain);
    for (index, found) in numbers.iter().enumerate() {
        let is_most = index.checked_sub(1).is_some_and(|before| is_fraction(patterns, &plain, numbers[before], *found));
        if !is_most && let Some(score) = stated(patterns, &plain, *found, numbers.get(index + 1), scale) {
            scores.push(score?);
        }
    }
    if scores.is_empty() {
        scores = standing_apart(patterns, &plain, scale)?;
    }
    let mut scores = scores.into_iter();
    let Some(first) = scores.next() else { return Err("no score is stated".to_owned()) };
    match scores.find(|other| *other != first) {
        Some(other) => Err(format!("the reply states several scores: {first} and {other}")),
        None => scale.holds(first),
    }
}

/// The text without mentions of the scale itself: `1-5`, `from 0 to 10`, `de 1 a 5`.
fn without_scale(text: &str, scale: Scale) -> String {
    let numbers = number::all(text);
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for pair in numbers.windows(2) {
        let [low, high] = pair else { continue };
        let between = text[low.end..high.start.max(low.end)].trim();
        let is_range = ["-", "–", "—", "~", "to", "and", "a", "até", "e", "到", "至", "through"].contains(&between);
        // A dash right before the second number may read as its sign.
        let is_most = if is_range { high.value == scale.most } else { between.is_empty() && high.value == -scale.most };
        if low.start >= from && low.value == scale.least && is_most {
            kept.push_str(text[from..low.start].trim_end_matches(['(', '[']));
            from =
                high.end + text[high.end..].chars().next().filter(|c| matches!(c, ')' | ']')).map_or(0, char::len_utf8);
        }
    }
    kept.push_str(&text[from..]);
    kept
}

/// Whether the second number is what the first is out of.
fn is_fraction(patterns: &Patterns, text: &str, found: Found, most: Found) -> bool {
    let of = patterns.of_most.captures(head(&text[found.end..], AROUND));
    let end = of.and_then(|of| of.get(0)).map(|of| found.end + of.end());
    end == Some(most.start)
}

/// The score that this number is, where words or a fraction say so.
fn stated(
    patterns: &Patterns,
    text: &str,
    found: Found,
    next: Option<&Found>,
    scale: Scale,
) -> Option<Result<f64, String>> {
    let before = tail(&text[..found.start], AROUND);
    let after = head(&text[found.end..], AROUND);
    let is_labelled = patterns.label_direct.is_match(before)
        || patterns.label_verbal.is_match(before)
        || patterns.giving.is_match(before);
    if let (Some(of), Some(most)) = (patterns.of_most.captures(after), next) {
        let (all, word) = (of.get(0)?, of.get(1)?.as_str());
        let is_next = found.end + all.end() == most.start;
        let is_plain = word == "/" || word == "out of";
        if is_next && (is_plain || is_labelled) {
            // `3 out of 5 claims` counts claims; `a 3 out of 5` is a score whatever follows.
            let is_over = patterns.article.is_match(before) || patterns.after.is_match(head(&text[most.end..], AROUND));
            if most.value == scale.most {
                return is_over.then_some(Ok(found.value));
            }
            return is_labelled.then(|| {
                Err(format!(
                    "the score {} is out of {}, asked was one of {} to {}",
                    found.value, most.value, scale.least, scale.most
                ))
            });
        }
    }
    if !is_labelled {
        return None;
    }
    if patterns.range_after.is_match(after) {
        let is_result = after.starts_with(['-', '–', ':']);
        // `a score of 6-1` is that of a match, `a score of 3 or 4` no score.
        return (!is_result).then(|| Err("the reply gives a range, not a score".to_owned()));
    }
    patterns.after.is_match(after).then_some(Ok(found.value))
}

/// Where a line stands that may be a score.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// It is all there is.
    Alone,
    /// Other lines stand before or behind it.
    AmongOthers,
}

/// Scores that no word announces: a line that is only a number or a name with one, a first line that begins with one, a number behind the
/// last sentence, one in brackets at the very end.
fn standing_apart(patterns: &Patterns, text: &str, scale: Scale) -> Result<Vec<f64>, String> {
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return Ok(Vec::new()) };
    let place = if lines.len() == 1 { Line::Alone } else { Line::AmongOthers };
    let mut scores = Vec::new();
    for line in [first, last] {
        scores.extend(line_score(line, scale, place).transpose()?);
    }
    let numbers = number::all(first);
    let opening = numbers.first().filter(|found| found.notation == Notation::Digits && found.start == 0);
    let is_glossed = |found: &&Found| patterns.gloss_after.is_match(&first[found.end..]);
    if let (Some(found), true) = (opening.filter(is_glossed), scores.is_empty() || place == Line::AmongOthers) {
        let is_item = patterns.list_item.find_iter(text).nth(1).is_some();
        if is_item {
            return Err("the reply is a list, none of whose numbers is said to be the score".to_owned());
        }
        scores.push(found.value);
    }
    let numbers = number::all(last);
    if let Some(found) = numbers.last().filter(|found| found.notation == Notation::Digits) {
        let (before, after) = (&last[..found.start], &last[found.end..]);
        let is_behind = before.trim_end().ends_with(['.', '!', '?', '。', '"', '”', ';']) && before.ends_with(' ');
        let is_at_end = matches!(after.trim(), "" | "." | "。");
        let is_bracketed = before.ends_with(['(', '（']) && matches!(after.trim(), ")" | ")." | "）" | "）。");
        if (is_behind && is_at_end) || is_bracketed {
            scores.push(found.value);
        }
    }
    Ok(scores)
}

/// The score of a line that holds nothing but a score and perhaps a name.
fn line_score(line: &str, scale: Scale, place: Line) -> Option<Result<f64, String>> {
    let patterns = PATTERNS.as_ref().ok()?;
    let numbers = number::all(line);
    let fits = |before: &str, after: &str| patterns.line_before.is_match(before) && patterns.line_after.is_match(after);
    for (index, found) in numbers.iter().enumerate() {
        if found.notation == Notation::Word && place == Line::AmongOthers {
            continue;
        }
        let (before, after) = (&line[..found.start], &line[found.end..]);
        if before.len() > LONGEST_NAME || after.len() > LONGEST_NAME {
            continue;
        }
        if fits(before, after) {
            return Some(Ok(found.value));
        }
        let (Some(of), Some(most)) = (patterns.of_most.captures(after), numbers.get(index + 1)) else { continue };
        let is_next = of.get(0).is_some_and(|all| found.end + all.end() == most.start);
        if is_next && fits(before, &line[most.end..]) {
            return Some(if most.value == scale.most {
                Ok(found.value)
            } else {
                Err(format!("the score {} is out of {}, not of {}", found.value, most.value, scale.most))
            });
        }
    }
    None
}
