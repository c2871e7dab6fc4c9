//! How many blocks are run, and how many are not and why.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{block, page::Page};

/// One line for each thing that is done with blocks, and one for each reason for which nothing is.
pub(crate) fn of(pages: &[Page]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        *counts.entry(block.kind()).or_default() += 1;
    }
    let mut text = format!("book        {} pages, {} blocks\n", pages.len(), counts.values().sum::<usize>());
    for (kind, count) in counts {
        let why = block::IGNORED
            .iter()
            .find(|(word, _)| kind.ends_with(word))
            .map_or(String::new(), |(_, why)| format!(": {why}"));
        writeln!(text, "  {count:>4}  {kind}{why}").expect("a text grows");
    }
    text
}
