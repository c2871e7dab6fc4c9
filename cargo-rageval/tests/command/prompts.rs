//! `cargo rageval prompts`.

use std::fs;

use super::{folder, passes, refuses};

#[test]
fn what_it_prints_is_a_prompt_that_loads() {
    let folder = folder();
    let names = passes(folder.path(), &["prompts"]);
    assert!(names.lines().any(|name| name == "faithfulness.verdicts"), "{names}");
    let prompts = folder.path().join("prompts");
    fs::create_dir(&prompts).expect("a folder");
    for name in names.lines() {
        for language in ["en", "pt", "zh"] {
            let text = passes(folder.path(), &["prompts", name, "--language", language]);
            fs::write(prompts.join(format!("{name}.{language}.md")), text).expect("a file");
        }
    }
    let policy = folder.path().join("thresholds.yaml");
    let judge = r#"{provider: openai, base_url: "http://127.0.0.1:1/v1", model: m, prompts: prompts}"#;
    fs::write(&policy, format!("version: 1\njudge: {judge}\nbudget: {{requests: 1}}\nmetrics: {{faithfulness: }}\n"))
        .expect("a file");
    let policy = rageval_runner::load::policy(&policy, rageval_runner::metric::METRICS).expect("a policy");
    assert_ne!(policy.judge.prompts, std::sync::Arc::default(), "own ones stand there");
    assert_eq!(policy.judge.prompts.digest(), rageval_runner::judge::prompt::Prompts::default().digest());
}

#[test]
fn an_unknown_name_or_language_is_refused() {
    let text = refuses(folder().path(), &["prompts", "faithfulness.verdict"]);
    assert!(text.contains("'faithfulness.verdicts'"), "{text}");
    let text = refuses(folder().path(), &["prompts", "faithfulness.verdicts", "--language", "fr"]);
    assert!(text.contains("en, pt, zh"), "{text}");
}
