//! Answers that every gate of this kind must get right: ten known hallucinations, a date in two spellings, a refund half wrong.

#[path = "support/gate.rs"]
mod gate;
#[path = "support/trials.rs"]
mod trials;

use std::process::ExitCode;

use gate::Project;
use rageval_runner::model::{Claim, Outcome, Verdict};
use serde_json::{Value, json};
use trials::Test;

const TESTS: &[Test] = &[
    ("each_of_ten_known_hallucinations_is_red_with_its_claim_in_print", hallucinations_by_verdict),
    ("what_the_offline_rules_catch_of_them_and_what_they_miss", hallucinations_by_rules),
    ("a_local_model_says_something_of_each_of_their_wrong_sentences", hallucinations_by_local_model),
    ("june_29th_2007_is_june_29_2007_to_a_judge_and_no_exact_match", date),
    ("one_contradicted_claim_of_two_about_a_refund_is_half_in_chinese", refund),
];

/// No variable of the environment is needed.
const NOTHING: (&str, &str) = ("RAGEVAL_JUDGE_MODE", "live");

fn main() -> ExitCode {
    gate::main(&[("named", TESTS)])
}

/// An answer of which one sentence is not as the contexts say.
struct Hallucination {
    id: &'static str,
    language: &'static str,
    query: &'static str,
    contexts: &'static [&'static str],
    /// What the contexts state; perhaps nothing.
    right: &'static [&'static str],
    /// What they do not, and what a person says of it.
    wrong: (&'static str, Verdict),
    by_rules: ByRules,
}

/// What the offline judge makes of the wrong sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByRules {
    Caught,
    Missed(&'static str),
}

use ByRules::{Caught, Missed};
use Verdict::{Contradicted, Unsupported};

const TEN: [Hallucination; 10] = [
    Hallucination {
        id: "wrong-number",
        language: "en",
        query: "How long can I return an order?",
        contexts: &["Orders can be returned within 30 days of delivery. Refunds are paid within 5 business days."],
        right: &["Refunds are paid within 5 business days."],
        wrong: ("Orders can be returned within 60 days of delivery.", Contradicted),
        by_rules: Caught,
    },
    Hallucination {
        id: "made-up-fact",
        language: "en",
        query: "Who approves refunds?",
        contexts: &["Orders can be returned within 30 days of delivery. Refunds are paid within 5 business days."],
        right: &["Refunds are paid within 5 business days."],
        wrong: ("A manager in the Dublin office approves each of them by hand.", Unsupported),
        by_rules: Caught,
    },
    Hallucination {
        id: "wrong-name",
        language: "en",
        query: "Who launched Kepler?",
        contexts: &["The Kepler telescope was launched by NASA in 2009 and retired in 2018."],
        right: &["Kepler was retired in 2018."],
        wrong: ("The telescope was launched by the European Space Agency.", Contradicted),
        by_rules: Caught,
    },
    Hallucination {
        id: "roles-swapped",
        language: "en",
        query: "Who bought whom?",
        contexts: &["In 2019 Acme acquired Borel for 40 million dollars."],
        right: &[],
        wrong: ("In 2019 Borel acquired Acme for 40 million dollars.", Contradicted),
        by_rules: Missed("who did what to whom: the words are the same"),
    },
    Hallucination {
        id: "negacao",
        language: "pt",
        query: "Posso devolver um produto personalizado?",
        contexts: &[
            "O prazo para devolução é de 7 dias corridos após o recebimento.",
            "Produtos personalizados não podem ser devolvidos.",
        ],
        right: &["O prazo para devolução é de 7 dias corridos."],
        wrong: ("Produtos personalizados podem ser devolvidos.", Contradicted),
        by_rules: Caught,
    },
    Hallucination {
        id: "plano-trocado",
        language: "pt",
        query: "O plano Básico tem suporte por telefone?",
        contexts: &["O plano Básico inclui 5 usuários. O plano Profissional inclui suporte por telefone."],
        right: &["O plano Básico inclui 5 usuários."],
        wrong: ("O plano Básico inclui suporte por telefone.", Contradicted),
        by_rules: Missed("true pieces put together wrongly"),
    },
    Hallucination {
        id: "modalidade",
        language: "pt",
        query: "A loja cobra taxa de reenvio?",
        contexts: &["A loja pode cobrar uma taxa de reenvio em endereços rurais."],
        right: &[],
        wrong: ("A loja sempre cobra uma taxa de reenvio em endereços rurais.", Unsupported),
        by_rules: Missed("modality: may and always"),
    },
    Hallucination {
        id: "借期",
        language: "zh",
        query: "一次能借几本书，借多久？",
        contexts: &["读者凭借书证最多可借阅10本书，借期为30天。"],
        right: &["读者最多可借阅10本书。"],
        wrong: ("借期为60天。", Contradicted),
        by_rules: Caught,
    },
    Hallucination {
        id: "无线充电",
        language: "zh",
        query: "这款手机支持无线充电吗？",
        contexts: &["该手机配备5000毫安时电池，支持67瓦有线快充，不支持无线充电。"],
        right: &["该手机支持67瓦有线快充。"],
        wrong: ("该手机支持无线充电。", Contradicted),
        by_rules: Caught,
    },
    Hallucination {
        id: "铁路起点",
        language: "zh",
        query: "青藏铁路从哪里到哪里？",
        contexts: &["青藏铁路全长1956公里，由西宁通往拉萨，于2006年全线通车。"],
        right: &["青藏铁路全长1956公里。"],
        wrong: ("青藏铁路由成都通往拉萨。", Contradicted),
        by_rules: Missed("a swapped city in a sentence of right words"),
    },
];

impl Hallucination {
    fn sentences(&self) -> impl Iterator<Item = (&'static str, Verdict)> {
        self.right.iter().map(|sentence| (*sentence, Verdict::Supported)).chain([self.wrong])
    }

    fn case(&self) -> Value {
        let sentences: Vec<_> = self.sentences().map(|(sentence, _)| sentence).collect();
        case(self.id, self.language, self.query, &sentences.join(" "), self.contexts)
    }

    /// Whether the wrong sentence, or a clause of it, counts against the answer.
    fn is_caught(&self, outcome: &Outcome) -> bool {
        let detail = outcome.detail().unwrap_or_else(|| panic!("{}: {outcome:?}", self.id));
        let is_wrong = |text: &str| self.wrong.0.contains(text.trim_end_matches(['.', '。']));
        detail.claims.iter().any(|claim| is_wrong(&claim.text) && claim.verdict >= Unsupported)
    }
}

/// A golden case that holds its answer.
fn case(id: &str, language: &str, query: &str, response: &str, contexts: &[&str]) -> Value {
    json!({"id": id, "query": query, "language": language, "response": response, "retrieved_contexts": contexts})
}

/// An entry of the scripted judge: each sentence's claims with their verdicts.
fn verdicts<'a>(case: &str, sentences: impl IntoIterator<Item = Vec<(&'a str, Verdict)>>) -> Value {
    let claim = |(claim, verdict): &(&str, Verdict)| json!({"claim": claim, "verdict": verdict.as_str(), "context": 1});
    let sentence =
        |(claims, n): (Vec<_>, usize)| json!({"n": n, "claims": claims.iter().map(claim).collect::<Vec<_>>()});
    let sentences: Vec<_> = sentences.into_iter().zip(1..).map(sentence).collect();
    json!({"request": "faithfulness.verdicts", "case": case, "value": {"sentences": sentences}})
}

#[track_caller]
fn score(project: &Project, case: &str, metric: &str) -> f64 {
    let outcome = project.outcome(case, metric);
    outcome.score().unwrap_or_else(|| panic!("{case}: {outcome:?}")).get()
}

fn hallucinations_by_verdict() {
    // One more, in which nothing is wrong, is green.
    let fine = "The fee is 12 euros.";
    let mut cases: Vec<_> = TEN.iter().map(Hallucination::case).collect();
    cases.push(case("fine", "en", "What is the fee?", fine, &[fine]));
    let mut replies: Vec<_> =
        TEN.iter().map(|known| verdicts(known.id, known.sentences().map(|sentence| vec![sentence]))).collect();
    replies.push(verdicts("fine", [vec![(fine, Verdict::Supported)]]));
    let policy = "judge: {provider: scripted, replies: replies.jsonl}\nmetrics: {faithfulness: {min: 1}}";
    let project = Project::new(policy, &cases).with_replies(&replies);
    let ran = project.run(NOTHING);
    ran.ends_with(101).says("11 cases: 1 passed, 10 failed");
    for known in &TEN {
        let (right, all) = (known.right.len(), known.right.len() + 1);
        let expected = right as f64 / all as f64;
        assert_eq!(score(&project, known.id, "faithfulness"), expected, "{}", known.id);
        let (wrong, verdict) = known.wrong;
        ran.says(&format!("---- case::all::{} ----", known.id));
        ran.says(&format!("failed      faithfulness {expected:.2}, min 1.00 ({right} of {all})"));
        ran.says(&format!("claim       {}: {wrong}", verdict.as_str()));
    }
    assert_eq!(score(&project, "fine", "faithfulness"), 1.0);
}

fn hallucinations_by_rules() {
    let cases: Vec<_> = TEN.iter().map(Hallucination::case).collect();
    let project = Project::new("judge: {provider: offline}\nmetrics: {faithfulness: {min: 1}}", &cases);
    project.run(NOTHING).ends_with(101);
    let mut wrong = Vec::new();
    for known in &TEN {
        let is_caught = known.is_caught(&project.outcome(known.id, "faithfulness"));
        match known.by_rules {
            Caught => println!("{}: caught", known.id),
            Missed(why) => println!("{}: missed: {why}", known.id),
        }
        if is_caught != (known.by_rules == Caught) {
            wrong.push(format!("{} is {}", known.id, if is_caught { "caught" } else { "missed" }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn hallucinations_by_local_model() {
    let Ok(url) = std::env::var("RAGEVAL_LOCAL_JUDGE") else {
        println!("skipped: RAGEVAL_LOCAL_JUDGE names no server, as in RAGEVAL_LOCAL_JUDGE=http://127.0.0.1:8081");
        return;
    };
    // One sentence a request: of two in one, a small model answers as the example of the prompt does, see docs/judges.md.
    let cases: Vec<_> = TEN.iter().map(Hallucination::case).collect();
    let policy = format!(
        "judge: {{provider: openai, base_url: \"{url}/v1\", model: local, max_in_flight: 1, timeout: 10m, try_timeout: 10m}}\n\
         budget: {{requests: 30}}\nmetrics: {{faithfulness: {{min: 1, mode: one_by_one}}}}"
    );
    let project = Project::new(&policy, &cases);
    project.run(NOTHING).notices().for_each(|notice| println!("{notice}"));
    let (mut caught, mut accepted) = (0, 0);
    for known in &TEN {
        match project.outcome(known.id, "faithfulness") {
            Outcome::Unmeasured { fault } => {
                println!("{}: {}: {}", known.id, fault.cause, fault.why);
                // All sentences taken for none that claims anything: red, and so no hallucination passes.
                assert_eq!(fault.cause, "no claims in a non-refusal answer", "{}", fault.why);
            }
            outcome @ (Outcome::Scored { .. } | Outcome::NotApplicable { .. }) => {
                let is_caught = known.is_caught(&outcome);
                caught += usize::from(is_caught);
                let claims = &outcome.detail().expect("a score").claims;
                let is_right = |claim: &&Claim| known.right.contains(&claim.text.as_str());
                accepted += claims.iter().filter(is_right).filter(|claim| claim.verdict == Verdict::Supported).count();
                println!("{}: {}", known.id, if is_caught { "caught" } else { "missed" });
            }
        }
    }
    // How many is up to the model; 0 of 10 is no judge.
    let right: usize = TEN.iter().map(|known| known.right.len()).sum();
    println!("{caught} of 10 caught, {accepted} of {right} right sentences accepted");
    assert!(caught > 0);
}

/// Nobody labelled for these judges.
const UNLABELLED: &str = "waive: {calibration: {reason: \"the verdicts are given\", until: 2099-12-31}}";

fn date() {
    let cases = [json!({
        "id": "first-sale", "language": "en", "query": "When did it first go on sale?",
        "ground_truth_answer": "June 29, 2007.", "response": "June 29th, 2007.", "retrieved_contexts": ["It went on sale on June 29, 2007."],
    })];
    let said = json!({"answer": [{"n": 1, "verdict": "correct"}], "reference": [{"n": 1, "verdict": "covered"}]});
    let reply = json!({"request": "answer_correctness.statements", "case": "first-sale", "value": said});
    for judge in ["{provider: scripted, replies: replies.jsonl}", "{provider: offline}"] {
        let policy =
            format!("judge: {judge}\nmetrics: {{answer_correctness: {{min: 1}}, exact_match: }}\n{UNLABELLED}");
        let project = Project::new(&policy, &cases).with_replies(std::slice::from_ref(&reply));
        project.run(NOTHING).ends_with(0);
        assert_eq!(score(&project, "first-sale", "answer_correctness"), 1.0, "{judge}");
        assert_eq!(score(&project, "first-sale", "exact_match"), 0.0, "{judge}");
    }
}

fn refund() {
    let (right, wrong) = ("收货后30天内可以申请退款。", "退款在3个工作日内到账。");
    let contexts = ["收货后30天内可以申请退款，退款在5个工作日内到账。"];
    let query = "退款期限是多久，多久到账？";
    let two = case("两句", "zh", query, &format!("{right}{wrong}"), &contexts);
    let one = case("一句", "zh", query, "收货后30天内可以申请退款，退款在3个工作日内到账。", &contexts);
    let claims = [(right, Verdict::Supported), (wrong, Contradicted)];
    let replies = [
        verdicts("两句", claims.iter().map(|claim| vec![*claim])),
        // Two claims of one sentence count like two sentences.
        verdicts("一句", [claims.to_vec()]),
    ];
    let policy = "judge: {provider: scripted, replies: replies.jsonl}\nmetrics: {faithfulness: {min: 0.8}}";
    let project = Project::new(policy, &[two.clone(), one]).with_replies(&replies);
    let ran = project.run(NOTHING);
    ran.ends_with(101).says("failed      faithfulness 0.50, min 0.80 (1 of 2)");
    ran.says(&format!("claim       contradicted: {wrong}"));
    for id in ["两句", "一句"] {
        assert_eq!(score(&project, id, "faithfulness"), 0.5, "{id}");
        ran.says(&format!("---- case::all::{id} ----"));
    }
    let project = Project::new("judge: {provider: offline}\nmetrics: {faithfulness: {min: 0.8}}", &[two]);
    project.run(NOTHING).ends_with(101).says(&format!("claim       contradicted: {wrong}"));
    assert_eq!(score(&project, "两句", "faithfulness"), 0.5);
}
