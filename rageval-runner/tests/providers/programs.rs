//! A judge that is a program.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use rageval_runner::{
    judge::{Judge, Judged, spec::JudgeProvider},
    model::{CaseId, Ending, JudgeRequest, Language, Reply},
    system::spec::{CommandSpec, Per},
};
use serde_json::{Value, json};

use super::{Test, open, run};

pub(crate) const TESTS: &[Test] = &[
    ("a_program_is_given_the_prompt_the_schema_and_the_data", given),
    ("a_program_that_is_started_for_each_request_answers", per_request),
    ("faults_of_a_program_are_told_apart_and_cost_one_request", faults),
    ("a_program_that_is_not_there_is_an_error", nobody),
];

fn program(per: Per) -> Arc<dyn Judge> {
    let binary = std::env::current_exe().expect("this binary").to_string_lossy().into_owned();
    start(vec![binary, "fake-judge".to_owned()], per)
}

fn start(run: Vec<String>, per: Per) -> Arc<dyn Judge> {
    let command = CommandSpec { run, per, env: BTreeMap::new(), folder: std::env::temp_dir() };
    open(JudgeProvider::Command { command, model: "fake-1".to_owned() })
}

async fn ask(judge: &dyn Judge, case: &str, sentence: &str) -> Result<Value, (Ending, String)> {
    let request = JudgeRequest::new("faithfulness.verdicts", Language::En).text("query", "Q?");
    let request = request.numbered("sentences", [sentence]).numbered("contexts", ["C."]);
    let case = CaseId::new(case).expect("a valid id");
    match tokio::time::timeout(Duration::from_secs(5), judge.ask(&case, &request)).await {
        Ok(Judged { reply: Reply::Value { value }, .. }) => Ok(value),
        Ok(Judged { reply: Reply::Failed { ending, why }, .. }) => Err((ending, why)),
        Err(_) => Err((Ending::TimeOut, String::new())),
    }
}

/// What the program says that it was given.
fn keys() -> Value {
    let keys = ["case", "fields", "id", "language", "name", "retry", "sample", "schema", "system", "user"];
    json!({"keys": keys, "name": "faithfulness.verdicts", "schema": "object"})
}

fn given() {
    let judge = program(Per::Run);
    assert_eq!((judge.stamp().provider.as_str(), judge.stamp().model.as_str()), ("command", "fake-1"));
    run(async {
        assert_eq!(ask(&*judge, "a", "Fine.").await, Ok(keys()));
        let (b, c) = tokio::join!(ask(&*judge, "b", "[text]"), ask(&*judge, "b", "Fine."));
        assert_eq!((b, c), (Ok(json!({"n": 2})), Ok(keys())));
    });
    assert_eq!(judge.notices(), Vec::<String>::new());
}

fn per_request() {
    let judge = program(Per::Case);
    run(async {
        assert_eq!(ask(&*judge, "a", "Fine.").await, Ok(keys()));
        let (ending, why) = ask(&*judge, "a", "[crash]").await.expect_err("a crash");
        assert_eq!(ending, Ending::Provider);
        assert!(why.contains("exit status: 7") || why.contains("exit code: 7"), "{why}");
    });
}

fn faults() {
    let judge = program(Per::Run);
    run(async {
        let (ending, why) = ask(&*judge, "a", "[error]").await.expect_err("an error");
        assert_eq!((ending, why.as_str()), (Ending::Provider, "the program says: out of memory"));
        let (ending, _) = ask(&*judge, "b", "[crash]").await.expect_err("a crash");
        assert_eq!(ending, Ending::Provider);
        assert_eq!(ask(&*judge, "c", "Fine.").await, Ok(keys()));
    });
}

fn nobody() {
    let judge = start(vec!["./no-such-program".to_owned()], Per::Run);
    let (ending, why) = run(ask(&*judge, "a", "Fine.")).expect_err("an error");
    assert_eq!(ending, Ending::Provider);
    assert!(why.starts_with("`./no-such-program` could not be started: "), "{why}");
}
