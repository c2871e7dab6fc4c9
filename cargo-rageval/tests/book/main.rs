//! The book as its reader follows it: every command of it is run, every file that it shows is read, every link leads somewhere.
//!
//! One trial a page, `page::docs/start/http.md`. A page's blocks are taken from top to bottom in an empty folder of its own, as a reader
//! would; the words behind a block's language say what it is (`block.rs` lists them). `RAGEVAL_BOOK=overwrite` puts what the commands
//! printed in place of what the page says: read the difference before it is committed.

mod block;
mod compiled;
mod files;
mod links;
mod page;
mod proof;
mod red_texts;
mod sandbox;
mod tally;
mod walk;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use libtest_mimic::{Arguments, Failed, Trial};

use page::Page;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace root").to_owned()
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let pages = Arc::new(page::all(&root()));
    let conclusion = libtest_mimic::run(&arguments, trials(&pages));
    if !arguments.list && arguments.filter.is_none() {
        print!("{}", tally::of(&pages));
    }
    conclusion.exit_code()
}

fn trials(pages: &Arc<Vec<Page>>) -> Vec<Trial> {
    let mut trials = vec![
        over(pages, "book::a_fault_is_seen", |_| all(proof::unseen())),
        over(pages, "book::every_block_says_what_it_is", |pages| all(pages.iter().flat_map(block::faults))),
        over(pages, "book::every_link_leads_somewhere", |pages| all(links::broken(pages))),
        over(pages, "book::every_page_is_in_the_summary_once", |pages| all(links::not_in_the_summary(pages))),
        over(pages, "book::every_red_text_is_one_that_is_printed", |pages| all(red_texts::unknown(pages))),
        over(pages, "book::every_red_text_is_explained", |pages| all(red_texts::unexplained(pages))),
        over(pages, "book::every_rust_block_compiles", |pages| compiled::check(pages, "rust")),
    ];
    for (i, page) in pages.iter().enumerate() {
        trials.push(over(pages, &format!("page::{}", page.path), move |pages| walk::page(&pages[i])));
    }
    trials
}

/// A trial over all pages.
fn over(
    pages: &Arc<Vec<Page>>,
    name: &str,
    look: impl FnOnce(&[Page]) -> Result<(), String> + Send + 'static,
) -> Trial {
    let pages = Arc::clone(pages);
    Trial::test(name, move || look(&pages).map_err(Failed::from))
}

/// All faults, each on its line.
fn all(faults: impl IntoIterator<Item = String>) -> Result<(), String> {
    let faults: Vec<String> = faults.into_iter().collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}
