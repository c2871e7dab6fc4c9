//! What is red, what a waiver changes, what is only told.

use super::*;
use crate::model::{Answer, CaseId, Record, Sample, Taken, Transcript};

const DATED: &str = "qwen3-235b-a22b-instruct-2507";

fn date(text: &str) -> Date {
    text.parse().expect("a date")
}

fn judge(provider: &str, model: &str) -> JudgeStamp {
    JudgeStamp { provider: provider.to_owned(), model: model.to_owned(), fingerprint: String::new() }
}

fn place(line: usize) -> Place {
    Place { file: "thresholds.yaml".to_owned(), line, column: 1 }
}

fn declared(waivers: &[(Waivable, &str)]) -> Declared {
    let waiver = |(at, (what, until)): (usize, &(Waivable, &str))| Waiver {
        what: *what,
        reason: "because".to_owned(),
        until: date(until),
        place: place(10 + at),
    };
    Declared {
        judge: Party { family: None, place: place(4) },
        system: Party { family: None, place: place(3) },
        waivers: waivers.iter().enumerate().map(waiver).collect(),
    }
}

/// Checks an `openai` judge on the last day of November 2026.
fn checked(model: &str, generator: Option<&str>, declared: &Declared) -> Trust {
    check(&judge("openai", model), &Generators::declared(generator), None, declared, date("2026-11-30"))
}

#[test]
fn a_dated_judge_of_another_family_is_trusted_in_silence() {
    assert_eq!(checked(DATED, Some("gpt-4o"), &declared(&[])), Trust::default());
}

#[test]
fn judges_that_are_code_are_not_checked() {
    for provider in CODE {
        let trust =
            check(&judge(provider, "gpt-4o"), &Generators::declared(None), None, &declared(&[]), date("2026-11-30"));
        assert_eq!(trust, Trust::default());
    }
}

#[test]
fn a_name_that_moves_is_refused() {
    let trust = checked("mistral-large-latest", Some("gpt-4o"), &declared(&[]));
    let [refused] = trust.refused.as_slice() else { panic!("{trust:?}") };
    assert_eq!(
        refused,
        &[
            "thresholds.yaml:4: the provider moves the judge's name `mistral-large-latest` to other models, so two runs may have two judges",
            "name a model that stays, as in `model: NAME-2026-01-31`",
            "or waive it in writing: `waive: {alias: {reason: WHY, until: YYYY-MM-DD}}`",
        ]
    );
}

#[test]
fn a_judge_of_the_generators_family_is_refused() {
    let trust = checked("gpt-4o-2024-08-06", Some("o3-mini"), &declared(&[]));
    let [refused] = trust.refused.as_slice() else { panic!("{trust:?}") };
    assert_eq!(
        refused[0],
        "thresholds.yaml:4: the judge `gpt-4o-2024-08-06` and the generator `o3-mini` are of one family, openai: models favour their own"
    );
    let mut declared = declared(&[]);
    (declared.judge.family, declared.system.family) = (Some("ours".to_owned()), Some("Ours".to_owned()));
    let trust = checked("judge-2026-01-01", Some("bot"), &declared);
    assert!(trust.refused[0][0].contains("of one family, ours"), "{trust:?}");
}

#[test]
fn an_undeclared_generator_is_refused() {
    let trust = checked(DATED, None, &declared(&[]));
    let [refused] = trust.refused.as_slice() else { panic!("{trust:?}") };
    assert!(refused[0].starts_with("thresholds.yaml:3: no `system.generator` says"), "{refused:?}");
    assert_eq!(trust.notices, Vec::<String>::new());
}

#[test]
fn a_waiver_that_holds_passes_what_it_names_and_is_told() {
    let all = [(Waivable::Alias, "2026-11-30"), (Waivable::Family, "2027-01-31")];
    let trust = checked("gpt-4o", Some("gpt-4.1"), &declared(&all));
    assert_eq!(trust.refused, Vec::<Vec<String>>::new());
    assert_eq!(trust.waived, ["alias until 2026-11-30: because", "family until 2027-01-31: because"]);
    assert_eq!(trust.notices, Vec::<String>::new());
    let trust = checked(DATED, None, &declared(&[(Waivable::Generator, "2026-12-01")]));
    assert_eq!((trust.refused.len(), trust.waived.len()), (0, 1));
}

#[test]
fn a_waiver_passes_nothing_but_what_it_names() {
    let trust = checked("gpt-4o", Some("gpt-4.1"), &declared(&[(Waivable::Alias, "2027-01-31")]));
    assert_eq!((trust.refused.len(), trust.waived.len()), (1, 1));
    assert!(trust.refused[0][0].contains("one family"), "{trust:?}");
}

#[test]
fn an_expired_waiver_is_none() {
    let trust = checked("gpt-4o", Some("qwen-plus"), &declared(&[(Waivable::Alias, "2026-11-29")]));
    assert_eq!(trust.waived, Vec::<String>::new());
    assert_eq!(trust.refused[0][2], "or waive it anew: the waiver at thresholds.yaml:10 expired on 2026-11-29");
}

#[test]
fn a_waiver_without_use_is_told() {
    let all =
        [(Waivable::Alias, "2027-01-31"), (Waivable::Family, "2026-01-31"), (Waivable::Calibration, "2026-01-31")];
    let trust = checked(DATED, Some("claude-opus-4-6"), &declared(&all));
    // Whether a calibration is waived is not for this check to say.
    assert_eq!(
        trust.notices,
        [
            "thresholds.yaml:10: `waive.alias` waives nothing; remove it",
            "thresholds.yaml:11: `waive.family` waives nothing, and has expired; remove it",
        ]
    );
}

#[test]
fn what_nobody_knows_is_told_once() {
    let notices = |model: &str, generator: &str| checked(model, Some(generator), &declared(&[])).notices;
    assert_eq!(
        notices("m", "g"),
        [
            "not known whether the judge's name `m` moves: prefer a dated one",
            "families of judge and generator not known: declare `judge.family`, `system.family`",
        ]
    );
    assert_eq!(notices(DATED, "g"), ["family of the generator `g` not known: declare `system.family`"]);
    assert_eq!(
        notices("judge-2026-01-01", "gpt-4o"),
        ["family of the judge `judge-2026-01-01` not known: declare `judge.family`"]
    );
}

#[test]
fn answers_of_no_model_are_of_no_family() {
    let mut declared = declared(&[]);
    declared.system.family = Some("none".to_owned());
    assert_eq!(checked(DATED, Some("extractive"), &declared), Trust::default());
}

#[test]
fn a_program_may_be_called_as_its_user_likes() {
    let mut declared = declared(&[]);
    declared.judge.family = Some("none".to_owned());
    let with = |model: &str| {
        check(&judge("command", model), &Generators::declared(Some("gpt-4o")), None, &declared, date("2026-11-30"))
    };
    assert_eq!(with("rules-3"), Trust::default());
    assert_eq!(with("gpt-4o").refused.len(), 2, "a model's name counts wherever it is asked");
}

#[test]
fn an_embedder_whose_name_moves_is_told() {
    let trust =
        check(&judge("offline", "1"), &Generators::default(), Some("embed-latest"), &declared(&[]), date("2026-11-30"));
    assert_eq!(
        trust.notices,
        ["the provider moves the embedder's name `embed-latest`: prefer one as `NAME-2026-01-31`"]
    );
    assert_eq!(trust.refused, Vec::<Vec<String>>::new());
    assert_eq!(
        check(&judge("offline", "1"), &Generators::default(), Some("e5-small"), &declared(&[]), date("2026-11-30")),
        Trust::default()
    );
}

/// What a run says whose answers name these models; an empty name is none.
fn told(declared: Option<&str>, models: &[&str]) -> Generators {
    let record = |model: &&str| {
        let answer = Answer::new("12.").with_generator(*model);
        let taken = Taken::Sample(Sample { answer, is_refusal: false, latency_ms: None });
        let id = CaseId::new("c").expect("an id");
        Record::new(id, String::new(), taken, Default::default(), Transcript::default())
    };
    Generators::of(declared, &models.iter().map(record).collect::<Vec<_>>())
}

#[test]
fn every_repeat_says_its_model_whichever_is_shown() {
    let repeat = |model: Option<&str>| {
        let taken = match model {
            Some(model) => {
                let answer = Answer::new("12.").with_generator(model);
                Taken::Sample(Sample { answer, is_refusal: false, latency_ms: None })
            }
            None => Taken::Failed(crate::model::Unmeasured::new("system error", "HTTP 500")),
        };
        crate::model::Repeat { taken, outcomes: Default::default(), transcript: Transcript::default() }
    };
    let told = |models: &[Option<&str>], shown: usize| {
        let each: Vec<_> = models.iter().map(|model| repeat(*model)).collect();
        let id = CaseId::new("c").expect("an id");
        let taken = each[shown - 1].taken.clone();
        let mut record = Record::new(id, String::new(), taken, Default::default(), Transcript::default());
        record.repeats = Some(crate::model::Repeated { shown, each });
        Generators::of(None, &[record]).told.expect("a whole run")
    };
    let names = |told: &crate::trust::generators::Told| told.models.iter().cloned().collect::<Vec<_>>();
    for shown in [1, 2, 3] {
        let told = told(&[Some("gpt-4o"), Some("qwen-max"), Some("")], shown);
        assert_eq!((names(&told), told.silent), (vec!["gpt-4o".to_owned(), "qwen-max".to_owned()], 1), "{shown}");
    }
    let failed = told(&[Some("qwen-max"), None, Some("")], 2);
    assert_eq!((names(&failed), failed.silent), (vec!["qwen-max".to_owned()], 1));
}

fn with_told(judged_by: &str, generators: &Generators, waivers: &[(Waivable, &str)]) -> Trust {
    check(&judge("openai", judged_by), generators, None, &declared(waivers), date("2026-11-30"))
}

#[test]
fn what_every_answer_says_counts_as_declared() {
    assert_eq!(with_told(DATED, &told(None, &["gpt-4o", "gpt-4o"]), &[]), Trust::default());
    assert_eq!(with_told(DATED, &told(Some("GPT-4o"), &["gpt-4o", ""]), &[]), Trust::default());
    let trust = with_told(DATED, &told(None, &["gpt-4o", "qwen-max", "claude-opus-4-6", "qwq-32b"]), &[]);
    let [refused] = trust.refused.as_slice() else { panic!("{trust:?}") };
    assert!(refused[0].contains("the generators `qwen-max`, `qwq-32b` are of one family, qwen"), "{refused:?}");
}

#[test]
fn answers_that_name_no_model_are_refused_where_nothing_is_declared() {
    let trust = with_told(DATED, &told(None, &["gpt-4o", " ", ""]), &[]);
    let [refused] = trust.refused.as_slice() else { panic!("{trust:?}") };
    assert!(refused[0].contains("which model writes the answers, of which 2 name none, so the judge"), "{refused:?}");
    // In a part of a run this is not known yet.
    assert_eq!(with_told(DATED, &Generators::default(), &[]), Trust::default());
}

#[test]
fn a_declaration_that_the_system_denies_is_refused_with_both_names_and_can_be_waived() {
    let generators = told(Some("gpt-4o"), &["gpt-4o", "claude-opus-4-6"]);
    let trust = with_told(DATED, &generators, &[]);
    let [refused] = trust.refused.as_slice() else { panic!("{trust:?}") };
    assert_eq!(
        refused[0],
        "thresholds.yaml:3: `system.generator` declares `gpt-4o`, but the system says that its answers are written by `claude-opus-4-6`"
    );
    let trust = with_told(DATED, &generators, &[(Waivable::Generator, "2026-12-31")]);
    assert_eq!((trust.refused.len(), trust.waived.len()), (0, 1));
    // The family is looked at all the same.
    let trust = with_told(DATED, &told(Some("gpt-4o"), &["qwen-max"]), &[(Waivable::Generator, "2026-12-31")]);
    assert!(trust.refused[0][0].contains("of one family, qwen"), "{trust:?}");
}
