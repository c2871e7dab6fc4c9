//! Adds what changed to the changelog of a golden set.

use super::lock::Difference;
use crate::{model::CaseId, report::console::text::visible};

/// What a new changelog starts with.
const HEADING: &str = "# Changes to the golden set\n";

/// Cases of one kind that an entry names; the rest are counted, and the lock's own difference has them all.
const MOST_NAMED: usize = 10;

/// The lines of one version: what the person wrote, then which cases.
///
/// Blanks and line ends of the message are joined, so that it can't start a heading of its own.
pub fn entry(message: &str, difference: Option<&Difference>) -> Vec<String> {
    let mut lines = vec![format!("- {}", message.split_whitespace().collect::<Vec<_>>().join(" "))];
    let Some(difference) = difference else { return lines };
    let changed: Vec<String> = difference
        .changed
        .iter()
        .map(|(id, parts)| {
            let parts: Vec<&str> = parts.iter().map(|part| part.as_str()).collect();
            if parts.is_empty() { code(id) } else { format!("{} ({})", code(id), parts.join(", ")) }
        })
        .collect();
    let new: Vec<String> = difference.new.iter().map(code).collect();
    let gone: Vec<String> = difference.gone.iter().map(code).collect();
    for (what, named) in [("Changed", changed), ("New", new), ("Gone", gone)] {
        if !named.is_empty() {
            let more = named.len().saturating_sub(MOST_NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let named = named[..named.len().min(MOST_NAMED)].join(", ");
            lines.push(format!("- {what}: {named}{more}"));
        }
    }
    if let Some((_, after)) = &difference.renamed {
        let name = after.as_deref().map_or("none".to_owned(), visible);
        lines.push(format!("- Name of the set: {name}"));
    }
    lines
}

/// An id as a code span of Markdown.
fn code(id: &CaseId) -> String {
    let id = visible(id.as_str());
    if id.contains('`') { format!("`` {id} ``") } else { format!("`{id}`") }
}

/// The versions that have a heading in the changelog, in its order: the first word of each `## `, without brackets.
///
/// A version may have any form, so each such word with a digit in it counts; `## Unreleased` does not.
pub fn versions(text: &str) -> Vec<&str> {
    let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
    let words =
        headings.filter_map(|heading| heading.split_whitespace().next()).map(|word| word.trim_matches(['[', ']']));
    words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect()
}

/// The changelog with these lines under the heading of the version, newest version first; all that stands there stays as it is.
///
/// A version that has its heading already gets the lines below what stands there, those that it has not; so a second try after a
/// failure adds nothing twice. Line ends are those of the text.
pub fn with_entry(text: Option<&str>, version: &str, entry: &[String]) -> String {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(HEADING);
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = text.lines().collect();
    let heading = format!("## {}", visible(version));
    let is_heading = |line: &&str| line.starts_with("## ");
    let mut added: Vec<&str> = Vec::new();
    let at = match lines.iter().position(|line| line.trim_end() == heading) {
        Some(start) => {
            let after = lines[start + 1..].iter().position(is_heading);
            let mut stop = after.map_or(lines.len(), |after| start + 1 + after);
            while stop > start + 1 && lines[stop - 1].trim().is_empty() {
                stop -= 1;
            }
            let there = &lines[start + 1..stop];
            added.extend(entry.iter().map(String::as_str).filter(|line| !there.contains(line)));
            if there.is_empty() && !added.is_empty() {
                added.insert(0, "");
            }
            stop
        }
        None => {
            while lines.last().is_some_and(|line| line.trim().is_empty()) {
                lines.pop();
            }
            let at = lines.iter().position(is_heading);
            if at.is_none() {
                added.push("");
            }
            added.extend([heading.as_str(), ""]);
            added.extend(entry.iter().map(String::as_str));
            if at.is_some() {
                added.push("");
            }
            at.unwrap_or(lines.len())
        }
    };
    lines.splice(at..at, added);
    lines.join(end) + end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: Option<&str>, after: &str) {
        let lines = ["- Why.".to_owned(), "- New: `a`".to_owned()];
        assert_eq!(with_entry(before, "1.1.0", &lines), after);
        assert_eq!(with_entry(Some(after), "1.1.0", &lines), after, "a second time");
    }

    #[test]
    fn a_new_version_stands_above_the_older_ones() {
        check(
            Some("# Changes\n\nProse.\n\n## 1.0.0\n\n- First.\n"),
            "# Changes\n\nProse.\n\n## 1.1.0\n\n- Why.\n- New: `a`\n\n## 1.0.0\n\n- First.\n",
        );
    }

    #[test]
    fn a_changelog_without_versions_gets_its_first() {
        check(None, "# Changes to the golden set\n\n## 1.1.0\n\n- Why.\n- New: `a`\n");
        check(Some(" \n"), "# Changes to the golden set\n\n## 1.1.0\n\n- Why.\n- New: `a`\n");
        check(Some("Own words\n\n\n"), "Own words\n\n## 1.1.0\n\n- Why.\n- New: `a`\n");
    }

    #[test]
    fn a_version_that_stands_there_is_added_to() {
        check(
            Some("## 1.1.0\n\n- By hand.\n\n## 1.0.0\n\n- First.\n"),
            "## 1.1.0\n\n- By hand.\n- Why.\n- New: `a`\n\n## 1.0.0\n\n- First.\n",
        );
        check(Some("## 1.1.0\n"), "## 1.1.0\n\n- Why.\n- New: `a`\n");
    }

    #[test]
    fn versions_are_the_headings() {
        let text = "# Changes\n\n## Unreleased\n## [1.1.0] of May\r\n- ## no\n## 1.0.0\n### 0.1.0\n";
        assert_eq!(versions(text), ["1.1.0", "1.0.0"]);
        assert_eq!(versions("# Changes\n"), [""; 0]);
    }

    #[test]
    fn line_ends_are_kept() {
        check(
            Some("# Changes\r\n\r\n## 1.0.0\r\n"),
            "# Changes\r\n\r\n## 1.1.0\r\n\r\n- Why.\r\n- New: `a`\r\n\r\n## 1.0.0\r\n",
        );
    }

    #[test]
    fn an_entry_is_one_line_a_kind() {
        let id = |text: &str| CaseId::new(text).expect("an id");
        let difference = Difference {
            changed: vec![(id("a"), vec![crate::model::CasePart::Query]), (id("b"), Vec::new())],
            new: (0..12).map(|i| id(&format!("n{i:02}"))).collect(),
            gone: vec![id("odd`id")],
            renamed: Some((None, Some("help".to_owned()))),
        };
        let lines = entry("  Prices of 2026.\n## 9.9.9\n", Some(&difference));
        let new = "- New: `n00`, `n01`, `n02`, `n03`, `n04`, `n05`, `n06`, `n07`, `n08`, `n09` and 2 more";
        let expected = [
            "- Prices of 2026. ## 9.9.9",
            "- Changed: `a` (query), `b`",
            new,
            "- Gone: `` odd`id ``",
            "- Name of the set: help",
        ];
        assert_eq!(lines, expected);
        assert_eq!(entry("First.", None), ["- First."]);
    }
}
