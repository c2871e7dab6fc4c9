//! Texts of answers, claims, reasons and names stay text in every report.

use comrak::{
    Arena, Options,
    nodes::{AstNode, NodeValue},
    parse_document,
};
use rageval_runner::{model::run::Run, report::console::text::RED_TEXTS};

use super::rendered;
use crate::report::fixture::{HOSTILE, every_outcome};

/// The run with hostile text wherever a run file holds text.
fn hostile() -> Run {
    let mut run = every_outcome();
    for decision in &mut run.decisions {
        // What a harness wrote is clean; a run file from a fork need not be.
        decision.lines.push(HOSTILE.to_owned());
        decision.notices.push(HOSTILE.to_owned());
        for finding in &mut decision.findings {
            finding.text = HOSTILE.to_owned();
        }
    }
    for case in &mut run.cases {
        case.query = HOSTILE.to_owned();
        case.place.file = HOSTILE.to_owned();
        case.fields.insert("tags".to_owned(), vec![HOSTILE.to_owned()]);
    }
    run.background.notices.push(HOSTILE.to_owned());
    run.background.waivers.push(HOSTILE.to_owned());
    run.manifest.partial = Some(HOSTILE.to_owned());
    run.manifest.run_id = HOSTILE.to_owned();
    run.manifest.judge.model = HOSTILE.to_owned();
    run.manifest.judge_calls_itself.insert(HOSTILE.to_owned());
    run.manifest.git_revision = Some(HOSTILE.to_owned());
    run.manifest.target = Some(HOSTILE.to_owned());
    run
}

/// GitHub's dialect.
fn github() -> Options<'static> {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.shortcodes = true;
    options.extension.math_dollars = true;
    options.extension.math_code = true;
    options.extension.alerts = true;
    options
}

fn check_markdown(text: &str) {
    let arena = Arena::new();
    let root = parse_document(&arena, text, &github());
    let mut columns = 0;
    for node in root.descendants() {
        check_node(node, &mut columns);
    }
}

fn check_node<'a>(node: &'a AstNode<'a>, columns: &mut usize) {
    match &node.data.borrow().value {
        NodeValue::Link(link) => assert_eq!(link.url, RED_TEXTS, "a link"),
        NodeValue::Image(link) => panic!("an image {}", link.url),
        NodeValue::HtmlInline(html) => panic!("HTML: {html}"),
        NodeValue::ShortCode(code) => panic!("an emoji: {code:?}"),
        NodeValue::Math(math) => panic!("mathematics: {math:?}"),
        NodeValue::FootnoteReference(_) | NodeValue::TaskItem(_) | NodeValue::BlockQuote | NodeValue::Alert(_) => {
            panic!("markup of an answer")
        }
        NodeValue::HtmlBlock(html) => {
            let ours = html.literal.lines().all(|line| {
                line.is_empty()
                    || line == "</details>"
                    || line.starts_with("<details><summary>")
                    || line.starts_with("<!-- rageval:")
            });
            assert!(ours && !html.literal.contains("script"), "HTML: {}", html.literal);
        }
        // Mentions, references and commits are looked for in plain text; ours has none of their signs.
        NodeValue::Text(text) => {
            for sign in ["@", "#", "GH-", "evil", "0123456789abcdef", "planted"] {
                assert!(!text.contains(sign), "plain text: {text}");
            }
        }
        NodeValue::Table(table) => *columns = table.num_columns,
        NodeValue::TableRow(_) => assert_eq!(node.children().count(), *columns),
        _ => {}
    }
}

#[test]
fn nothing_in_a_comment_is_markup_of_an_answer() {
    for run in [every_outcome(), hostile()] {
        for name in ["markdown", "summary"] {
            check_markdown(&rendered(name, &run));
        }
    }
}

#[test]
fn the_check_sees_what_it_is_for() {
    for text in ["https://evil.example", "a@evil.example", "@team", "#123", "<b>x</b>", "![i](x)", ":tada:", "$x$"] {
        assert!(std::panic::catch_unwind(|| check_markdown(text)).is_err(), "{text}");
    }
}

#[test]
fn no_line_of_a_report_is_a_command_of_an_answer() {
    let run = hostile();
    for name in ["markdown", "summary", "junit", "json", "csv", "text", "annotations"] {
        let text = rendered(name, &run);
        // A runner takes a line whose first word it knows, and the older form wherever it stands.
        for line in text.split(['\r', '\n', '\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}']) {
            let start = line.trim_start();
            let is_ours = name == "annotations"
                && ["::error file=", "::error title=", "::warning file=", "::warning title=", "::notice title="]
                    .iter()
                    .any(|ours| start.starts_with(ours));
            assert!(is_ours || !start.starts_with("::"), "{name}: {line}");
            assert!(!line.contains("##["), "{name}: {line}");
        }
        for c in ['\u{202e}', '\u{200b}', '\u{1b}', '\u{0}', '\u{fffe}'] {
            assert!(!text.contains(c), "{name} holds {c:?}");
        }
    }
}

#[test]
fn a_comment_stays_below_the_limit_and_keeps_what_matters() {
    let mut run = hostile();
    run.manifest.partial = None;
    for i in 0..3500 {
        let mut case = run.cases[1].clone();
        case.case = rageval_runner::model::CaseId::new(format!("c{i}")).expect("an id");
        case.trial = format!("case::help::c{i}");
        let mut decision = run.decisions[1].clone();
        decision.trial.clone_from(&case.trial);
        decision.lines = vec![HOSTILE.to_owned(); 15];
        run.cases.push(case);
        run.decisions.push(decision);
    }
    let (reading, github) = ("Shortened, to be read in two minutes", "Cut to fit GitHub's limit");
    for (name, limit, why) in [("markdown", 16_000, reading), ("summary", 1_000_000, github)] {
        let text = rendered(name, &run);
        assert!(text.len() <= limit, "{name}: {}", text.len());
        assert!(text.starts_with("### ❌ failed: 3"), "{name}");
        assert!(text.contains("#### Red cases") && text.contains("more red cases"), "{name}");
        let (_, cut) = text.split_once(&format!("**{why}:** ")).expect("it says so");
        assert!(cut.contains(" printed"), "{name}: {cut}");
        assert!(cut.contains("in place of `RUN`: `cargo rageval report RUN --format html`."), "{name}: {cut}");
        check_markdown(&text);
    }
}
