//! One page of Markdown: its blocks, headings and links.

use std::{fs, ops::Range, path::Path};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::block::Block;

/// A page.
pub(crate) struct Page {
    /// Below the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// In the order of the page.
    pub(crate) blocks: Vec<Block>,
    /// Its first heading.
    pub(crate) title: String,
    /// What a link may name behind `#`.
    pub(crate) anchors: Vec<String>,
    /// Each link: its line, its words, where it leads.
    pub(crate) links: Vec<(usize, String, String)>,
}

/// The pages of the book, the README and CONTRIBUTING.md, by path.
pub(crate) fn all(root: &Path) -> Vec<Page> {
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md"), root.join("ARCHITECTURE.md")];
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                files.push(path);
            }
        }
    }
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let below = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        Page::new(below, text.replace("\r\n", "\n"))
    };
    let mut pages: Vec<Page> = files.iter().map(read).collect();
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    pages
}

impl Page {
    /// Reads its parts.
    pub(crate) fn new(path: String, text: String) -> Self {
        let mut page =
            Self { path, text, blocks: Vec::new(), title: String::new(), anchors: Vec::new(), links: Vec::new() };
        let text = page.text.clone();
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let mut block: Option<(String, usize, String, Option<Range<usize>>)> = None;
        let mut heading: Option<String> = None;
        let mut is_link = false;
        let parser = Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES);
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.to_string(),
                        CodeBlockKind::Indented => "indented".to_owned(),
                    };
                    block = Some((info, line(range.start), String::new(), None));
                }
                Event::End(TagEnd::CodeBlock) => {
                    let (info, line, body, place) = block.take().expect("a block that began");
                    page.blocks.push(Block::new(&info, line, body, place.unwrap_or(range.end..range.end)));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let heading = heading.take().expect("a heading that began");
                    let anchor = anchor(&heading);
                    if page.anchors.is_empty() {
                        page.title = heading;
                    }
                    let again = page.anchors.iter().filter(|seen| **seen == anchor).count();
                    page.anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push((line(range.start), String::new(), dest_url.to_string()));
                    is_link = true;
                }
                Event::End(TagEnd::Link | TagEnd::Image) => is_link = false,
                Event::Text(words) | Event::Code(words) => {
                    if let (true, Some((_, shown, _))) = (is_link, page.links.last_mut()) {
                        shown.push_str(&words);
                    }
                    if let Some((_, _, body, place)) = &mut block {
                        body.push_str(&words);
                        let start = place.as_ref().map_or(range.start, |place| place.start);
                        *place = Some(start..range.end);
                    } else if let Some(heading) = &mut heading {
                        heading.push_str(&words);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading, as mdBook and GitHub make it.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
