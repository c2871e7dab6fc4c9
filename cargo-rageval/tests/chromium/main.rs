//! The HTML report in a browser: it works, it asks nothing of the network, it says nothing on the console, and nothing in an answer acts.
//!
//! Without a Chromium the tests say so and pass; where `CI` is set and `RAGEVAL_REQUIRE_CHROMIUM=1`, they fail instead. Pictures are written
//! where `RAGEVAL_SCREENSHOTS` names a folder.

mod browser;
mod generated;

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use browser::Browser;
use rageval_runner::report::console::text::RED_TEXTS;
use serde_json::{Value, json};

/// The report of a run, as the command writes it.
fn report(folder: &Path, run: &Value) -> PathBuf {
    let path = folder.join("run.json");
    std::fs::write(&path, run.to_string()).expect("the run is written");
    let page = folder.join("report.html");
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-rageval"))
        .args(["rageval", "report", "--format", "html"])
        .arg(&path)
        .arg("--out")
        .arg(&page)
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    page
}

/// A browser with the report of a run open, at a part of it.
fn opened(run: &Value, hash: &str) -> Option<(Browser, tempfile::TempDir)> {
    let mut browser = browser::start()?;
    let folder = tempfile::tempdir().expect("a folder");
    let page = report(folder.path(), run);
    browser.look(1280, 900, false);
    browser.open(&page, hash);
    Some((browser, folder))
}

fn rows(browser: &mut Browser) -> u64 {
    browser.evaluate("document.querySelectorAll('#rows tr').length").as_u64().expect("a number")
}

fn text_of(browser: &mut Browser, selector: &str) -> String {
    let text = browser.evaluate(&format!("document.querySelector({}).textContent", Value::from(selector)));
    text.as_str().expect("a text").to_owned()
}

#[test]
fn the_list_is_searched_filtered_sorted_and_turned() {
    let Some((mut browser, _folder)) = opened(&generated::run(250, 1), "") else { return };
    assert_eq!((rows(&mut browser), text_of(&mut browser, "#found")), (100, "250 cases".into()));
    let nameless =
        "[...document.querySelectorAll('input, select')].filter((one) => !one.labels.length && !one.ariaLabel).length";
    assert_eq!(browser.evaluate(nameless), 0, "every field has a name");
    browser.evaluate("document.querySelector('#search').focus()");
    browser.insert("question-24");
    // 24, 240, 243, 246 and 249.
    assert_eq!((rows(&mut browser), text_of(&mut browser, "#found")), (5, "5 of 250 cases".into()));
    browser.key("Escape");
    assert_eq!(rows(&mut browser), 100);
    let choose = |browser: &mut Browser, id: &str, value: &str| {
        let value = Value::from(value);
        browser.evaluate(&format!(
            "{{ const select = document.querySelector('#{id}'); select.value = {value}; select.dispatchEvent(new Event('change')); }}"
        ));
    };
    choose(&mut browser, "state", "red");
    assert_eq!(text_of(&mut browser, "#found"), "32 of 250 cases");
    choose(&mut browser, "state", "");
    choose(&mut browser, "slice", r#"["language",2]"#);
    assert_eq!(text_of(&mut browser, "#found"), "83 of 250 cases");
    choose(&mut browser, "metric", "faithfulness");
    let scores =
        browser.evaluate("[...document.querySelectorAll('#rows td:nth-child(3)')].map((cell) => cell.textContent)");
    let scores: Vec<&str> = scores.as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let first = scores.iter().position(|score| *score != "unmeasured").expect("a score");
    assert!(scores[first..].is_sorted(), "{scores:?}");
    choose(&mut browser, "metric", "");
    choose(&mut browser, "slice", "");
    browser.evaluate("document.querySelector('#next').click()");
    assert_eq!(text_of(&mut browser, "#page"), "page 2 of 3");
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}

#[test]
fn a_case_opens_by_its_address_and_shows_what_fails() {
    let run = generated::run(30, 1);
    let Some((mut browser, _folder)) = opened(&run, "#case=quest%C3%A3o-4") else { return };
    browser.look(1280, 1500, false);
    assert_eq!(text_of(&mut browser, "#case h1"), "failed questão-4");
    assert_eq!(browser.evaluate("document.querySelector('#report').hidden"), true);
    let answer = run["records"][4]["taken"]["response"].as_str().expect("an answer");
    assert!(
        text_of(&mut browser, "#case .text mark.contradicted")
            .starts_with(answer.split_inclusive('.').next().expect("a sentence"))
    );
    assert!(
        text_of(&mut browser, "#case .alone")
            .contains("cargo test --test rag_regression -- --exact 'case::pt::questão-4'")
    );
    assert_eq!(browser.evaluate("document.querySelectorAll('#case .contexts li').length"), 5);
    assert!(browser.evaluate("document.querySelectorAll('#case .contexts li.relevant').length").as_u64() >= Some(1));
    browser.picture("case-pt");
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('details:not([open])').length"),
        0,
        "nothing is folded on paper"
    );
    browser.evaluate("location.hash = '#case=' + encodeURIComponent('问题-5')");
    browser.wait("document.querySelector('#case h1').textContent.endsWith('问题-5')");
    browser.picture("case-zh");
    browser.evaluate("location.hash = '#case=no%such'");
    browser.wait("document.querySelector('#case').textContent.includes('This run has no case of this id.')");
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}

#[test]
fn the_keyboard_is_enough() {
    let Some((mut browser, _folder)) = opened(&generated::run(30, 1), "") else { return };
    browser.key("/");
    browser.wait("document.activeElement.id === 'search'");
    browser.insert("question-2");
    browser.key("ArrowDown");
    browser.key("ArrowDown");
    let second = browser.evaluate("document.activeElement.textContent");
    assert_eq!(browser.evaluate("document.querySelectorAll('#rows a')[1].textContent"), second);
    assert_eq!(browser.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "solid", "the focus is seen");
    browser.key("Enter");
    browser.wait("!document.querySelector('#case').hidden");
    assert!(text_of(&mut browser, "#case h1").ends_with(second.as_str().expect("a text")));
    browser.key("ArrowRight");
    browser.wait(&format!("!document.querySelector('#case h1').textContent.endsWith({second})"));
    browser.key("Escape");
    browser.wait("document.querySelector('#case').hidden && document.activeElement.closest('#rows') !== null");
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}

#[test]
fn nothing_in_a_hostile_run_acts() {
    let run = generated::hostile();
    let Some((mut browser, _folder)) = opened(&run, "") else { return };
    let is_inert = |browser: &mut Browser| {
        assert_eq!(browser.evaluate("window.__pwned === undefined && document.title !== 'pwned'"), true);
        let made = "document.querySelectorAll('img, iframe, object, embed, main style, [onerror], [onload], [onmouseover], svg [onload]').length";
        assert_eq!(browser.evaluate(made), 0);
        // The page's own link to the book is the only one that leads out.
        let leads = "[...document.querySelectorAll('a')].map((a) => a.getAttribute('href')).filter((href) => !href.startsWith('#')).join()";
        let led = browser.evaluate(leads);
        assert!(led == json!("") || led == json!(RED_TEXTS), "{led}");
        assert_eq!(browser.misbehaviour(), Vec::<String>::new());
    };
    is_inert(&mut browser);
    assert_eq!(rows(&mut browser), 2);
    browser.picture("hostile");
    for row in 0..2 {
        browser.evaluate(&format!("document.querySelectorAll('#rows a')[{row}].click()"));
        browser.wait("!document.querySelector('#case').hidden");
        browser.picture(&format!("hostile-case-{row}"));
        let shown = text_of(&mut browser, "#case");
        assert!(shown.contains("window.__pwned = 1"), "the text is there");
        assert!(
            shown.contains("U+202E") && shown.contains("U+0000") && shown.contains("U+001B"),
            "what hides is spelled out"
        );
        is_inert(&mut browser);
        browser.key("Escape");
        browser.wait("document.querySelector('#case').hidden");
    }
}

#[test]
fn a_megabyte_is_shown_when_it_is_asked_for() {
    let Some((mut browser, _folder)) = opened(&generated::hostile(), "") else { return };
    browser.evaluate("document.querySelectorAll('#rows a')[1].click()");
    browser.wait("!document.querySelector('#case').hidden");
    assert!(browser.evaluate("document.querySelector('#case').textContent.length").as_u64() < Some(60_000));
    let button =
        "[...document.querySelectorAll('#case button')].find((button) => button.textContent.startsWith('Show all 1,'))";
    let begin = Instant::now();
    browser.evaluate(&format!("{button}.click()"));
    browser.wait("document.querySelector('#case').textContent.length > 1000000");
    eprintln!("a megabyte is shown after {:?}", begin.elapsed());
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}

/// Texts whose contrast with what is behind them is below 4.5 to 1 (WCAG AA).
const PALE: &str = r"() => {
    const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = parts(colour).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
        for (let at = one; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (parts(colour)[3] !== 0) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const holdsText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isSeen = (one) => one.checkVisibility() && !one.disabled && !one.closest('script, style, option, svg');
    return [...document.querySelectorAll('body *')].filter((one) => holdsText(one) && isSeen(one)).flatMap((one) => {
        const [a, b] = [light(getComputedStyle(one).color), light(behind(one))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        return contrast < 4.5 ? [`${contrast.toFixed(2)} ${one.outerHTML.slice(0, 80)}`] : [];
    });
}";

#[test]
fn it_fits_a_phone_and_the_dark() {
    let Some((mut browser, _folder)) = opened(&generated::run(60, 3), "") else { return };
    let pale = format!("({PALE})()");
    browser.evaluate("document.querySelector('#found').style.color = '#999'");
    let found = browser.evaluate(&pale);
    assert!(found[0].as_str().is_some_and(|found| found.contains("found")), "the check sees what is pale: {found}");
    browser.evaluate("document.querySelector('#found').style.color = ''");
    for (name, width, height, is_dark) in
        [("desktop", 1280, 3200, false), ("phone", 390, 1500, false), ("dark", 1280, 3200, true)]
    {
        browser.look(width, height, is_dark);
        for part in ["#decisions", "#metrics", "#slices", "#refusals", "#cases", "#case=question-57", "#case=问题-50"]
        {
            browser.evaluate(&format!("location.hash = {}", Value::from(part)));
            browser.wait(&format!("document.querySelector('#case').hidden === {}", !part.starts_with("#case=")));
            browser.picture(&format!("{name}{}", part.replace(['#', '='], "-")));
            // What scrolls inside itself may be as wide as it likes.
            let wide = format!(
                "[...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > {width} + 1 \
                && !one.closest('.scroll') && getComputedStyle(one).position !== 'absolute').map((one) => one.outerHTML.slice(0, 80))"
            );
            assert_eq!(browser.evaluate(&pale), json!([]), "{name}{part}: text that is hard to read");
            assert_eq!(browser.evaluate(&wide), json!([]), "{name}{part} is wider than the window");
        }
    }
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}

#[test]
fn why_the_baseline_lowered_a_score_can_be_read_on_a_phone() {
    let mut run = generated::run(60, 3);
    run["background"]["baseline"]["manifest"]["reasons"] = json!([{"reason": "a smaller judge reads each sentence", "scores": [["question-57", "faithfulness", 1.0, 0.5]]}]);
    let Some((mut browser, _folder)) = opened(&run, "") else { return };
    browser.look(390, 900, false);
    let seen = "[...document.querySelectorAll('#lowered h3')].map((one) => [one.getBoundingClientRect().width > 200, one.textContent])";
    assert_eq!(browser.evaluate(seen), json!([[true, "a smaller judge reads each sentence 1 score"]]));
}

/// What is wider than its place and no key can scroll, and heads of tables that say nothing.
const UNREACHABLE: &str = "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && \
    ((['auto', 'scroll'].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1 && one.tabIndex < 0) || \
    (one.matches('th') && !one.textContent.trim()))).map((one) => one.outerHTML.slice(0, 80))";

#[test]
fn what_scrolls_can_be_reached_by_keys() {
    let Some((mut browser, _folder)) = opened(&generated::run(60, 3), "") else { return };
    browser.look(390, 900, false);
    browser.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })");
    browser.wait("document.querySelectorAll('.scroll[tabindex=\"0\"][role=group][aria-label]').length > 2");
    assert_eq!(browser.evaluate(UNREACHABLE), json!([]));
    browser.evaluate("location.hash = '#case=question-57'");
    browser.wait("!document.querySelector('#case').hidden");
    assert_eq!(browser.evaluate(UNREACHABLE), json!([]));
    browser.evaluate(
        "{ const one = document.querySelector('#case .scroll'); one.tabIndex = -1; one.style.width = '50px'; }",
    );
    assert_ne!(browser.evaluate(UNREACHABLE), json!([]), "the check sees what can't be reached");
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}

#[test]
fn on_paper_all_is_open_and_nothing_is_cut() {
    let Some((mut browser, _folder)) = opened(&generated::run(250, 3), "") else { return };
    // A4 without margins of 1 cm, in the dark: paper is white all the same.
    browser.look(718, 1000, true);
    browser.call(
        "Emulation.setEmulatedMedia",
        &json!({"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}),
    );
    let folded = browser.evaluate("document.querySelectorAll('details:not([open])').length");
    browser.evaluate("dispatchEvent(new Event('beforeprint'))");
    assert_eq!(browser.evaluate("document.querySelectorAll('details:not([open])').length"), 0);
    assert_eq!(browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)");
    assert_eq!(browser.evaluate(&format!("({PALE})()")), json!([]));
    assert_eq!(browser.evaluate("document.querySelector('#page').checkVisibility()"), true, "the list has other pages");
    let cut = "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !one.closest('svg') && \
        ['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(one).overflowX) && one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 80))";
    assert_eq!(browser.evaluate(cut), json!([]), "text that is cut");
    let wide = "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > 719 \
        && getComputedStyle(one).position !== 'absolute').map((one) => one.outerHTML.slice(0, 80))";
    assert_eq!(browser.evaluate(wide), json!([]), "wider than the paper");
    browser.picture("paper");
    browser.evaluate("dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.evaluate("document.querySelectorAll('details:not([open])').length"), folded, "folded as before");
}

#[test]
fn without_script_the_decisions_and_plots_are_there() {
    let Some(mut browser) = browser::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = report(folder.path(), &generated::run(20, 1));
    browser.call("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    browser.open(&page, "");
    assert!(text_of(&mut browser, "noscript p").contains("need JavaScript"));
    assert!(text_of(&mut browser, "#decisions").contains("contradicted"));
    assert!(browser.evaluate("document.querySelectorAll('#metrics svg').length").as_u64() >= Some(4));
    assert_eq!(browser.evaluate("document.querySelector('#filters').checkVisibility()"), false);
}

/// The bounds are far from what is seen (`--nocapture` tells it), so that a busy machine does not break them.
#[test]
fn ten_thousand_cases_can_be_used() {
    let Some(mut browser) = browser::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let run = generated::run(10_000, 1);
    let begin = Instant::now();
    let page = report(folder.path(), &run);
    let megabytes = std::fs::metadata(&page).expect("the page").len() as f64 / 1e6;
    eprintln!("written after {:?}, {megabytes:.1} MB", begin.elapsed());
    assert!(megabytes < 30.0, "{megabytes:.1} MB");
    browser.look(1280, 900, false);
    let loaded = browser.open(&page, "");
    let interactive = browser.evaluate("performance.getEntriesByType('navigation')[0].domInteractive");
    eprintln!("opened after {loaded:?}, interactive after {interactive} ms");
    assert_eq!(text_of(&mut browser, "#found"), "10,000 cases");
    assert!(interactive.as_f64() < Some(20_000.0), "{interactive} ms until it can be used");
    let search = "(() => { const begin = performance.now(); const search = document.querySelector('#search'); search.value = 'question-99'; \
        search.dispatchEvent(new Event('input')); return performance.now() - begin; })()";
    let (first, second) = (browser.evaluate(search), browser.evaluate(search));
    eprintln!("searched first in {first} ms, then in {second} ms");
    assert!(first.as_f64() < Some(2_000.0) && second.as_f64() < Some(1_000.0), "{first} ms and {second} ms");
    browser.picture("ten-thousand");
    let open = "(() => { const begin = performance.now(); location.hash = '#case=question-9999'; return new Promise((done) => \
        addEventListener('hashchange', () => setTimeout(() => done(performance.now() - begin), 0))); })()";
    let opened = browser.evaluate(open);
    eprintln!("a case opened in {opened} ms");
    assert!(opened.as_f64() < Some(5_000.0), "{opened} ms");
    assert!(text_of(&mut browser, "#case h1").ends_with("question-9999"));
    browser.look(1280, 2000, false);
    browser.evaluate("location.hash = '#cases'");
    browser.picture("ten-thousand-cases");
    assert_eq!(browser.misbehaviour(), Vec::<String>::new());
}
