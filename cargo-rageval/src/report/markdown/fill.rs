//! Fills a limited room with sections: the most important first, each in its place.

use std::fmt::Write as _;

/// How much may be written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Bytes of the whole text.
    pub(super) bytes: usize,
    /// Rows of a section that says nothing else.
    pub(super) rows: usize,
    /// Red cases that are told in full.
    pub(super) worst: usize,
    /// Red cases beyond those that have a line each.
    pub(super) others: usize,
    /// Red gates whose text is shown.
    pub(super) texts: usize,
    /// What is said where something was left out for want of room.
    pub(super) left_out: &'static str,
}

/// A part of the text that may be cut row by row, or left out.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// How important: 0 is cut last.
    pub(super) rank: usize,
    /// Its title, in words of ours.
    pub(super) title: &'static str,
    /// Whether it is folded until a reader opens it.
    pub(super) is_folded: bool,
    /// What stands before the rows: the head of a table.
    pub(super) head: String,
    /// The rows, each with its line end, the most important first.
    pub(super) rows: Vec<String>,
    /// Rows that are shown at most, where it is not the room that says it.
    pub(super) most: Option<usize>,
    /// What is counted where rows are left out: `red cases`.
    pub(super) what: &'static str,
    /// What is said behind the count: how the rest is read.
    pub(super) then: String,
}

impl Section {
    fn frame(&self) -> (String, &'static str) {
        if self.is_folded {
            (format!("<details><summary>{}</summary>\n\n{}", self.title, self.head), "\n</details>\n\n")
        } else {
            (format!("#### {}\n\n{}", self.title, self.head), "\n")
        }
    }
}

/// Bytes that stay free for what says that something was left out.
const RESERVED: usize = 600;

/// Bytes of the line that counts the rows of a section that are left out.
const COUNTED: usize = 100;

/// The text: all sections in their order, cut so that it fits. Sections without rows are left out.
pub(super) fn fill(head: &str, sections: &[Section], foot: &str, room: Room) -> String {
    let mut free = room.bytes.saturating_sub(head.len() + foot.len() + RESERVED);
    let mut by_rank: Vec<usize> = (0..sections.len()).filter(|at| !sections[*at].rows.is_empty()).collect();
    by_rank.sort_by_key(|at| sections[*at].rank);
    let mut shown = vec![0; sections.len()];
    let mut cut: Vec<&str> = Vec::new();
    for at in by_rank {
        let section = &sections[at];
        let (start, end) = section.frame();
        let frame = start.len() + end.len() + COUNTED + section.then.len();
        let mut used = frame;
        let most = section.most.unwrap_or(room.rows);
        for row in section.rows.iter().take(most) {
            if used + row.len() > free {
                break;
            }
            used += row.len();
            shown[at] += 1;
        }
        if shown[at] < section.rows.len().min(most) {
            cut.push(section.title);
        }
        if shown[at] > 0 {
            free -= used;
        }
    }
    let mut text = head.to_owned();
    for (section, shown) in sections.iter().zip(shown.iter().copied()).filter(|(_, shown)| *shown > 0) {
        let (start, end) = section.frame();
        text.push_str(&start);
        text.extend(section.rows[..shown].iter().map(String::as_str));
        let left = section.rows.len() - shown;
        if left > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\nand {left} more {}{}", section.what, section.then);
        }
        text.push_str(end);
    }
    if !cut.is_empty() {
        let _ = write!(text, "**{}:** {}.\n\n", room.left_out, cut.join(", "));
    }
    text + foot
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(rank: usize, title: &'static str, rows: usize) -> Section {
        let rows = (0..rows).map(|row| format!("{title} {row:04}\n")).collect();
        Section { rank, title, rows, what: "rows", ..Section::default() }
    }

    fn room(bytes: usize, rows: usize) -> Room {
        Room { bytes, rows, worst: 0, others: 0, texts: 0, left_out: "Cut" }
    }

    #[test]
    fn the_least_important_is_cut_first_and_the_order_stays() {
        let sections = [section(2, "details", 1000), section(0, "cases", 10), section(1, "gates", 10)];
        let room = room(3000, 1000);
        let text = fill("head\n", &sections, "foot\n", room);
        assert!(text.len() <= room.bytes && text.starts_with("head\n") && text.ends_with("foot\n"), "{text}");
        assert!(text.contains("cases 0009") && text.contains("gates 0009"), "{text}");
        assert!(text.find("#### details") < text.find("#### cases"), "{text}");
        assert!(text.contains("more rows\n") && text.contains("**Cut:** details.\n\nfoot"), "{text}");
    }

    #[test]
    fn a_section_that_does_not_fit_at_all_is_named() {
        let sections = [section(0, "cases", 10), section(1, "details", 10)];
        let text = fill("", &sections, "", room(900, 100));
        assert!(!text.contains("details 0000") && text.contains("**Cut:** details."), "{text}");
    }

    #[test]
    fn rows_beyond_those_that_are_wanted_are_counted_and_not_called_cut() {
        let text = fill("", &[section(0, "cases", 10)], "", room(10_000, 4));
        assert!(text.contains("\nand 6 more rows\n") && !text.contains("**Cut"), "{text}");
    }

    #[test]
    fn a_section_without_rows_is_not_there() {
        assert_eq!(fill("head\n", &[section(0, "cases", 0)], "foot\n", room(10_000, 4)), "head\nfoot\n");
    }
}
