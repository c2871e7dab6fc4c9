//! Runs to look at: of any size from a seed, and one in which every text is hostile.

use serde_json::{Value, json};

/// A draw that is the same everywhere (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

const METRICS: [&str; 4] = ["answer_correctness", "faithfulness", "recall@5", "refusal_correctness"];

/// A text in one of three languages, of a few sentences that numbers tell apart.
fn sentence(draw: &mut Draw, language: &str) -> String {
    let n = draw.below(90) + 2;
    let (what, sentence) = match language {
        "pt" => (
            ["A encomenda", "O reembolso", "O código"],
            ["fica no armário por # dias corridos.", "chega em até # dias úteis.", "vale por # horas depois do aviso."],
        ),
        "zh" => (
            ["包裹", "退款", "取件码"],
            ["在柜中保存#天，逾期退回寄件人。", "会在#个工作日内到账。", "在通知发出后#小时内有效。"],
        ),
        _ => (
            ["A parcel", "The refund", "The pickup code"],
            [
                "waits in the locker for # days before it is returned.",
                "arrives within # working days.",
                "works for # hours after the notice.",
            ],
        ),
    };
    let blank = if language == "zh" { "" } else { " " };
    format!("{}{blank}{}", draw.of(&what), draw.of(&sentence).replace('#', &n.to_string()))
}

fn sentences(draw: &mut Draw, language: &str, most: usize) -> String {
    let blank = if language == "zh" { "" } else { " " };
    (0..=draw.below(most)).map(|_| sentence(draw, language)).collect::<Vec<_>>().join(blank)
}

/// A run of so many cases; one in nine fails, one in fifty is unmeasured.
pub(crate) fn run(cases: usize, seed: u64) -> Value {
    let mut draw = Draw(seed | 1);
    let documents: Vec<(String, &str, String)> = (0..(cases / 5).clamp(10, 800))
        .map(|at| {
            let language = ["en", "pt", "zh"][at % 3];
            (format!("{language}/document-{at}"), language, sentences(&mut draw, language, 6))
        })
        .collect();
    let (mut records, mut golden, mut decisions) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..cases {
        let language = ["en", "pt", "zh"][at % 3];
        let id = match language {
            "zh" => format!("问题-{at}"),
            "pt" => format!("questão-{at}"),
            _ => format!("question-{at}"),
        };
        let trial = format!("case::{language}::{id}");
        let (is_failing, is_unmeasured) = (at % 9 == 4, at % 50 == 7);
        let of_language: Vec<&(String, &str, String)> =
            documents.iter().filter(|document| document.1 == language).collect();
        let contexts: Vec<&(String, &str, String)> =
            (0..5).map(|_| of_language[draw.below(of_language.len())]).collect();
        let answer = sentences(&mut draw, language, 4);
        let before = if draw.below(3) == 0 { sentences(&mut draw, language, 4) } else { answer.clone() };
        let claim = answer.split_inclusive(['.', '。']).next().unwrap_or(&answer).trim().to_owned();
        let score = if is_failing { draw.below(45) as f64 / 100.0 } else { (60 + draw.below(41)) as f64 / 100.0 };
        let outcome = |name: &str, draw: &mut Draw| {
            if is_unmeasured && name == "faithfulness" {
                return json!({"outcome": "unmeasured", "cause": "judge reply unreadable", "why": "no JSON in it: Sorry, as a language model"});
            }
            let verdict = if is_failing { "contradicted" } else { "supported" };
            match name {
                "faithfulness" => {
                    json!({"outcome": "scored", "score": {"value": score}, "detail": {"k_of_n": [1, 2], "claims": [
                    {"text": claim, "verdict": verdict, "evidence": {"id": contexts[0].0, "text": contexts[0].2.split_inclusive(['.', '。']).next()}, "reason": "another number"},
                    {"text": sentence(draw, language), "verdict": if is_failing { "unsupported" } else { "inferred" }}]}})
                }
                "recall@5" if at % 11 == 0 => {
                    json!({"outcome": "not_applicable", "why": "the case names no relevant documents"})
                }
                _ => json!({"outcome": "scored", "score": {"value": (draw.below(5) as f64 / 4.0).max(score).min(1.0)}}),
            }
        };
        let outcomes: serde_json::Map<String, Value> =
            METRICS.iter().map(|name| ((*name).to_owned(), outcome(name, &mut draw))).collect();
        let accepted: serde_json::Map<String, Value> = METRICS
            .iter()
            .map(|name| {
                (
                    (*name).to_owned(),
                    json!({"outcome": "scored", "score": {"value": (70 + draw.below(31)) as f64 / 100.0}}),
                )
            })
            .collect();
        let retrieved: Vec<Value> = contexts
            .iter()
            .enumerate()
            .map(|(rank, (id, _, text))| json!({"id": id, "text": text, "score": 9.5 - rank as f64}))
            .collect();
        records.push(json!({"case": id, "digest": format!("d{at}"), "outcomes": outcomes, "transcript": [],
            "taken": {"taken": "sample", "response": answer, "retrieved_contexts": retrieved, "is_refusal": at % 40 == 3, "latency_ms": 120.0 + draw.below(4000) as f64 / 10.0, "cost_usd": 0.0004, "usage": {"input_tokens": 900, "output_tokens": 80}}}));
        golden.push(json!({"case": id, "trial": trial, "place": {"file": format!("cases/{language}.yaml"), "line": at * 6 + 1, "column": 3},
            "query": sentence(&mut draw, language).replace(['.', '。'], "?"), "references": [sentence(&mut draw, language)],
            "relevant": [{"id": contexts[1].0, "grade": 1.0}], "should_refuse": at % 40 == 3, "language": language,
            "fields": {"language": [language], "type": [(["fact", "how-to", "comparison"])[at % 7 % 3]]},
            "accepted": {"digest": format!("d{at}"), "response": before, "retrieved": [contexts[0].0, contexts[1].0], "context_digests": [], "outcomes": accepted}}));
        let (ruling, kind) = match (is_failing, is_unmeasured) {
            (true, _) => ("fail", "min"),
            (false, true) => ("undecided", "unmeasured"),
            (false, false) => ("pass", ""),
        };
        let text = if kind == "min" {
            format!("faithfulness {score:.2}, min 0.50 (1 of 2)")
        } else {
            "faithfulness unmeasured: judge reply unreadable".to_owned()
        };
        let findings = if kind.is_empty() {
            json!([])
        } else {
            json!([{"kind": kind, "level": "red", "metric": "faithfulness", "score": score, "bar": 0.5, "text": text}])
        };
        decisions.push(json!({"trial": trial, "ruling": ruling, "lines": [], "findings": findings}));
    }
    decisions.push(json!({"trial": "gate::faithfulness::mean", "ruling": "fail", "statistic": 0.7, "threshold": 0.85, "n": cases, "lines": ["failed      mean 0.700, min 0.85"], "gate": {"metric": "faithfulness", "rule": "mean"}}));
    let items: Vec<Value> = (0..60).map(|at| json!({"item": format!("item-{at}"), "people": (at % 5) as f64 / 4.0, "judge": ((at % 5 + at % 2) as f64 / 5.0)})).collect();
    json!({"format": "rageval-run", "version": 4, "manifest": manifest(cases), "records": records, "decisions": decisions, "cases": golden,
        "background": {"slices": ["language", "type"], "waivers": [], "notices": ["a notice"],
            "metrics": [{"metric": "faithfulness", "is_judged": true, "min": 0.5, "mean_min": 0.85, "bottom10_min": 0.4, "bottom10_use": "quantile"}, {"metric": "recall@5", "mean_min": 0.8}],
            "baseline": {"file": "baselines/main.json", "manifest": {"golden_set": {"name": "generated", "version": "1.0.0", "digest": "d", "cases": cases}, "judge": judge(), "system": {"kind": "function", "generator": null}, "metric_versions": {}}},
            "calibrations": [{"metric": "faithfulness", "items": items, "rho": 0.81, "interval": [0.7, 0.89], "min_rho": 0.7}]}})
}

fn judge() -> Value {
    json!({"provider": "openai", "model": "a-judge-2025-01-01", "fingerprint": "f1"})
}

fn manifest(cases: usize) -> Value {
    json!({"run_id": "generated", "rageval": "0.1.0", "golden_set": {"name": "generated", "version": "1.0.0", "digest": "d", "cases": cases}, "judge": judge(),
        "system": {"kind": "function", "generator": null}, "metric_versions": {"faithfulness": 1}, "policy_digest": "p", "git_revision": "0123456789abcdef", "seed": 0, "target": "rag_regression"})
}

/// Texts that act where they are not kept text. `window.__pwned` tells that one did.
pub(crate) const HOSTILE: [&str; 8] = [
    "</script><script>window.__pwned = 1; document.title = 'pwned'</script>",
    "<img src=x onerror=\"window.__pwned = 2\">",
    "<a href=\"javascript:window.__pwned=3\">a link</a> javascript:window.__pwned=3 [x](javascript:window.__pwned=3)",
    "<!--<script>window.__pwned = 4</script>-->]]>",
    "\u{202e}txet desrever\u{202c}\u{2066}\u{200b}\u{feff}",
    "NUL \u{0} ANSI \u{1b}[31mred\u{1b}[0m bell \u{7} line \u{2028}separators\u{2029}",
    "\"onmouseover=\"window.__pwned=5\" '`${window.__pwned=6}` &lt;script&gt; &amp; {{constructor}}",
    "<svg onload=window.__pwned=7><style>*{display:none}</style><iframe srcdoc=\"<script>parent.__pwned=8</script>\"></iframe>",
];

/// A run in which every text that comes from outside is hostile, and one answer has a megabyte.
pub(crate) fn hostile() -> Value {
    let all = HOSTILE.join(" ");
    let long = format!("{all} {}", "A parcel waits in the locker. ".repeat(40_000));
    let mut run = run(2, 7);
    for (at, answer) in [all.as_str(), long.as_str()].into_iter().enumerate() {
        // Ids hold no control characters: they are checked when a run is read.
        let id = format!("</script><img src=x onerror=window.__pwned=9> \"'& {at}");
        let claim =
            json!({"text": all, "verdict": "contradicted", "evidence": {"id": all, "text": all}, "reason": all});
        run["records"][at]["case"] = id.as_str().into();
        run["records"][at]["taken"] = json!({"taken": "sample", "response": answer, "is_refusal": false, "generator": all,
            "retrieved_contexts": [{"id": all, "text": all}, {"text": answer}]});
        run["records"][at]["outcomes"] = json!({"faithfulness": {"outcome": "scored", "score": {"value": 0.0}, "detail": {"claims": [claim], "note": all,
            "ranked": {"found": [[all, 1]], "missed": [all]}}}, "recall@5": {"outcome": "unmeasured", "cause": all, "why": all}, "refusal_correctness": {"outcome": "not_applicable", "why": all}});
        let golden = &mut run["cases"][at];
        golden["case"] = id.as_str().into();
        golden["trial"] = format!("case::{all}::{id}").into();
        golden["place"]["file"] = all.as_str().into();
        golden["query"] = all.as_str().into();
        golden["references"] = json!([all, answer]);
        golden["relevant"] = json!([{"id": all, "grade": 2.0}, {"id": "<missed>", "grade": 1.0}]);
        golden["fields"] = json!({"language": [all], "type": ["<b>"], "<i>field</i>": [all]});
        golden["known_failure"] = json!({"metrics": ["recall@5"], "reason": all});
        golden["accepted"]["response"] = format!("{all} then").into();
        golden["accepted"]["retrieved"] = json!([all, null]);
        run["decisions"][at] = json!({"trial": format!("case::{all}::{id}"), "ruling": "fail", "lines": [all], "notices": [all],
            "snapshot": {"why": all, "diff": [format!("+ {all}"), format!("- {all}")]},
            "findings": [{"kind": "min", "level": "red", "metric": "faithfulness", "score": 0.0, "bar": 0.5, "text": all}]});
    }
    run["decisions"][2]["lines"] = json!([format!("failed      {all}"), all]);
    run["decisions"][2]["trial"] = format!("gate::{all}").into();
    run["manifest"]["run_id"] = all.as_str().into();
    run["manifest"]["git_revision"] = all.as_str().into();
    run["manifest"]["judge"]["model"] = all.as_str().into();
    run["manifest"]["golden_set"]["name"] = all.as_str().into();
    run["manifest"]["partial"] = all.as_str().into();
    run["manifest"]["target"] = all.as_str().into();
    run["background"]["waivers"] = json!([all]);
    run["background"]["notices"] = json!([all]);
    run["background"]["slices"] = json!(["language", "<i>field</i>"]);
    run["background"]["baseline"]["file"] = all.as_str().into();
    run["background"]["baseline"]["manifest"]["reasons"] =
        json!([{"reason": all, "scores": [["a", "faithfulness", 1.0, 0.5]]}]);
    run["background"]["calibrations"][0]["items"][0]["item"] = all.as_str().into();
    run["background"]["calibrations"][0]["refusals"] = json!([all]);
    run
}
