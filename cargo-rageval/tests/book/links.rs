//! Links: that each leads somewhere, and that the summary leads to every page.

use super::{page::Page, root};

/// The table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Links to a file or an anchor that is not there, and links of the book to what the book does not hold.
pub(crate) fn broken(pages: &[Page]) -> Vec<String> {
    let mut faults = Vec::new();
    for page in pages {
        for (line, _, link) in &page.links {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            if let Err(why) = leads(pages, page, link) {
                faults.push(format!("{}:{line}: {link}: {why}", page.path));
            }
        }
    }
    faults
}

fn leads(pages: &[Page], from: &Page, link: &str) -> Result<(), String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let target = if file.is_empty() { from.path.clone() } else { beside(&from.path, file)? };
    if from.path.starts_with("docs/") && !target.starts_with("docs/") {
        return Err("leads out of the book, where its reader can't follow; name the file as code".to_owned());
    }
    let Some(page) = pages.iter().find(|page| page.path == target) else {
        let there = root().join(&target).exists();
        return if there && anchor.is_none() { Ok(()) } else { Err("no such page".to_owned()) };
    };
    match anchor {
        Some(anchor) if !page.anchors.iter().any(|known| known == anchor) => {
            Err(format!("{target} has no such heading"))
        }
        _ => Ok(()),
    }
}

/// A path as it is named from a page.
fn beside(page: &str, link: &str) -> Result<String, String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop().ok_or("leads out of the repository")?),
            name => parts.push(name),
        }
    }
    Ok(parts.join("/"))
}

/// Pages that the summary does not name exactly once, by their titles.
pub(crate) fn not_in_the_summary(pages: &[Page]) -> Vec<String> {
    let Some(summary) = pages.iter().find(|page| page.path == SUMMARY) else {
        return vec![format!("{SUMMARY} is missing")];
    };
    let mut faults = Vec::new();
    for page in pages.iter().filter(|page| page.path.starts_with("docs/") && page.path != SUMMARY) {
        let leads_here = |link: &str| beside(SUMMARY, link).is_ok_and(|path| path == page.path);
        let named: Vec<&str> =
            summary.links.iter().filter(|(_, _, link)| leads_here(link)).map(|(_, words, _)| words.as_str()).collect();
        if named != [page.title.as_str()] {
            faults.push(format!("{SUMMARY}: names {} as {named:?}, and its title is {:?}", page.path, page.title));
        }
    }
    faults
}
