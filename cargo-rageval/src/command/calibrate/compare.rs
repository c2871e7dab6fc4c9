//! `calibrate --judge A --judge B`: which judge agrees with people, what it costs, and where judges disagree.

use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
};

use rageval_runner::{
    judge::tokens_of,
    load::{self, Policy},
    model::{MetricKey, Reply, Request, Transcript},
    report::console::{
        calibration as told,
        spending::{money, thousands},
        text::{against, bar, interval_text, score, shortened, visible},
    },
    stats::Interval,
    trust::calibration::{Asked, Estimate, Measured, MeasuredItem, Now, Refusal, Report, refusals, report},
};
use serde_json::{Value, json};

use super::{
    Files, Format,
    measure::{self, Heard},
};
use crate::{
    context::Context,
    exit::{Ending, Failure, tell},
};

/// Disagreements that the text shows of each metric; JSON has all.
const MOST: usize = 20;

/// One judge with what it said.
struct Compared {
    /// As it was named on the command line.
    name: String,
    policy: Policy,
    heard: BTreeMap<MetricKey, Heard>,
}

/// One judge on one metric.
struct Placed<'a> {
    name: &'a str,
    measured: &'a Measured,
    report: Report,
    refusals: Vec<Refusal>,
    cost: Cost,
}

/// What judging the labelled items takes, whether replies were stored or not.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cost {
    requests: u64,
    tokens: u64,
    /// `None` where the judge has no price.
    usd: Option<f64>,
}

/// Asks every judge and tells; 0 where each metric has a judge that passes.
pub(super) fn run(
    files: &Files,
    metrics: &[MetricKey],
    judges: &[PathBuf],
    format: Format,
    context: &Context,
) -> Result<Ending, Failure> {
    let mut names: Vec<String> = Vec::new();
    let mut compared = Vec::new();
    for path in judges {
        let name = path.to_string_lossy().into_owned();
        if names.contains(&name) {
            return Err(Failure::Input(format!("--judge {name}: it is given twice")));
        }
        names.push(name.clone());
        let file = (path != Path::new("offline")).then_some(path.as_path());
        let policy = load::with_judge(&files.policy, file).map_err(|problems| Failure::Input(problems.to_string()))?;
        compared.push((name, policy));
    }
    let mut judged = Vec::new();
    for (name, policy) in compared {
        let asking = measure::open(&policy, context)?;
        let heard = measure::heard(&asking, &policy, &files.labels, metrics);
        asking.tell_notices();
        judged.push(Compared { name, policy, heard });
    }
    let version = files.set_version();
    let placed: Vec<(&MetricKey, Vec<Placed<'_>>)> =
        metrics.iter().map(|key| (key, placed(files, key, &judged, version.as_deref()))).collect();
    let mut out = crate::out::stdout();
    match format {
        Format::Text => {
            for (key, placed) in &placed {
                writeln!(out, "{}\n", lines(key, placed, files).join("\n"))?;
            }
        }
        Format::Json => writeln!(out, "{:#}", as_json(&placed, files))?,
    }
    out.flush()?;
    tell("nothing was written: name the judge you take in thresholds.yaml, then: cargo rageval calibrate");
    Ok(ending(&placed))
}

/// 1 where no judge passes on some metric though all were heard, 3 where one that might pass was not heard on all items.
fn ending(placed: &[(&MetricKey, Vec<Placed<'_>>)]) -> Ending {
    let passes = |judges: &Vec<Placed<'_>>| judges.iter().any(|judge| judge.refusals.is_empty());
    let is_open = |judges: &Vec<Placed<'_>>| judges.iter().any(Placed::is_undecided);
    let failing: Vec<_> = placed.iter().map(|(_, judges)| judges).filter(|judges| !passes(judges)).collect();
    if failing.is_empty() {
        Ending::Pass
    } else if failing.iter().all(|judges| is_open(judges)) {
        Ending::Undecided
    } else {
        Ending::Fail
    }
}

impl Placed<'_> {
    fn is_undecided(&self) -> bool {
        self.refusals.iter().any(|refusal| matches!(refusal, Refusal::Unmeasured { .. }))
    }
}

/// The judges on one metric: those that pass, cheapest first, then the others by their correlation.
fn placed<'a>(files: &Files, key: &MetricKey, judged: &'a [Compared], version: Option<&str>) -> Vec<Placed<'a>> {
    let labels = files.labels.labelled(key);
    let one = |judge: &'a Compared| {
        let heard = judge.heard.get(key)?;
        let stamp = &heard.measured.judge;
        let now = Now { judge: stamp, labels: &labels, set_version: version, bars: &files.policy.calibration };
        Some(Placed {
            name: &judge.name,
            measured: &heard.measured,
            report: report(key, &heard.measured, &Asked { bar: files.bar(key), run: None }),
            refusals: refusals(Some(&heard.measured), &now),
            cost: Cost::of(&judge.policy, &heard.transcripts),
        })
    };
    let mut placed: Vec<Placed<'_>> = judged.iter().filter_map(one).collect();
    placed.sort_by(|a, b| {
        let by_cost = || a.cost.in_order(b.cost);
        let rho = |judge: &Placed<'_>| judge.report.agreement.spearman.map_or(f64::NEG_INFINITY, |rho| rho.value);
        match (a.refusals.is_empty(), b.refusals.is_empty()) {
            (true, true) => by_cost().then(rho(b).total_cmp(&rho(a))),
            (passes, other) if passes != other => other.cmp(&passes),
            _ => rho(b).total_cmp(&rho(a)).then(by_cost()),
        }
    });
    placed
}

impl Cost {
    /// By the prompts that were sent and the replies that came, stored ones too.
    fn of(policy: &Policy, transcripts: &[Transcript]) -> Self {
        let (mut requests, mut input, mut output) = (0, 0, 0);
        for exchange in transcripts.iter().flat_map(|transcript| &transcript.exchanges) {
            let Request::Judge(request) = &exchange.request else { continue };
            requests += 1;
            if let Ok(prompt) = policy.judge.prompts.render(request) {
                let texts = [&*prompt.system, &prompt.user, &prompt.schema_text];
                input += texts.into_iter().map(tokens_of).sum::<u64>();
            }
            if let Reply::Value { value } = &exchange.reply {
                output += tokens_of(&value.to_string());
            }
        }
        let is_code = !policy.judge.is_hosted();
        let usd = if is_code { Some(0.0) } else { policy.judge.price.map(|price| price.usd(input, output)) };
        let tokens = if is_code { 0 } else { input + output };
        Self { requests, tokens, usd }
    }

    /// By money; what has no price comes last, by tokens.
    fn in_order(self, other: Self) -> std::cmp::Ordering {
        let known = |cost: Self| cost.usd.unwrap_or(f64::INFINITY);
        known(self).total_cmp(&known(other)).then(self.tokens.cmp(&other.tokens))
    }

    fn told(self) -> String {
        match self.usd {
            Some(usd) => format!("about {}", money(usd)),
            None => format!("about {} tokens, no price", thousands(self.tokens)),
        }
    }
}

/// Items on which two judges are at least half apart, with what each says and people say; widest first.
fn apart(placed: &[Placed<'_>]) -> Vec<(String, Option<f64>, Vec<Option<f64>>)> {
    let items = placed.first().map(|judge| judge.measured.items.as_slice()).unwrap_or_default();
    let of = |judge: &Placed<'_>, item: &str| {
        judge.measured.items.iter().find(|one| one.item == item).and_then(MeasuredItem::score)
    };
    let mut apart: Vec<(f64, _)> = Vec::new();
    for item in items {
        let said: Vec<Option<f64>> = placed.iter().map(|judge| of(judge, &item.item)).collect();
        let scores: Vec<f64> = said.iter().flatten().copied().collect();
        let (low, high) = scores.iter().fold((1.0_f64, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
        if high - low >= 0.5 {
            apart.push((high - low, (item.item.clone(), item.human(), said)));
        }
    }
    apart.sort_by(|a, b| b.0.total_cmp(&a.0));
    apart.into_iter().map(|(_, item)| item).collect()
}

fn shown(estimate: Option<Estimate>, compared: f64) -> String {
    let Some(Estimate { value, interval }) = estimate else { return "no correlation".to_owned() };
    let interval = interval.map(|(low, high)| format!(" {}", interval_text(&Interval { low, high })));
    format!("{}{}", against(value, compared), interval.unwrap_or_default())
}

fn lines(key: &MetricKey, placed: &[Placed<'_>], files: &Files) -> Vec<String> {
    let bars = &files.policy.calibration;
    let labelled = placed.first().map_or(0, |judge| judge.report.items.labelled);
    let mut lines = vec![format!(
        "{}: {} judges over {labelled} labelled items, rho at least {}",
        visible(&key.to_string()),
        placed.len(),
        bar(bars.min_spearman)
    )];
    for (place, judge) in placed.iter().enumerate() {
        let stamp = &judge.measured.judge;
        let place = if judge.refusals.is_empty() { format!("{}.", place + 1) } else { "-".to_owned() };
        lines.push(format!(
            "  {place:<3} {}  ({} {})",
            visible(judge.name),
            visible(&stamp.provider),
            shortened(&stamp.model, 40)
        ));
        lines.push(format!(
            "      rho {}  {} requests, {}",
            shown(judge.report.agreement.spearman, bars.min_spearman),
            thousands(judge.cost.requests),
            judge.cost.told()
        ));
        let length = &judge.report.length;
        let groups: Vec<String> = length
            .groups
            .iter()
            .map(|group| format!("{:+.2} up to {} characters", group.mean_error, group.up_to))
            .collect();
        if !groups.is_empty() {
            lines.push(format!("      judge minus people: {}", groups.join(", ")));
        }
        for refusal in &judge.refusals {
            lines.push(format!("      not believed: {}", told::told(key, refusal, bars).0));
        }
        for (item, why) in &judge.report.items.unmeasured {
            lines.push(format!("      unmeasured: {}: {}", visible(item), visible(why)));
        }
    }
    let apart = apart(placed);
    if placed.len() > 1 {
        lines.push(format!("  judges disagree on {} of {labelled} items", apart.len()));
    }
    for (item, human, said) in apart.iter().take(MOST) {
        let number = |number: &Option<f64>| number.map_or("-".to_owned(), score);
        let each: Vec<String> =
            placed.iter().zip(said).map(|(judge, said)| format!("{} {}", visible(judge.name), number(said))).collect();
        lines.push(format!("    {}: people {}, {}", shortened(item, 40), number(human), each.join(", ")));
    }
    if apart.len() > MOST {
        lines.push(format!("    and {} more: --format json has them all", apart.len() - MOST));
    }
    lines
}

fn as_json(placed: &[(&MetricKey, Vec<Placed<'_>>)], files: &Files) -> Value {
    let metric = |(key, judges): &(&MetricKey, Vec<Placed<'_>>)| {
        let judge = |judge: &Placed<'_>| {
            let told = |refusal| told::told(key, refusal, &files.policy.calibration).0;
            json!({
                "judge": judge.name,
                "passes": judge.refusals.is_empty(),
                "refusals": judge.refusals.iter().map(told).collect::<Vec<_>>(),
                "requests": judge.cost.requests,
                "tokens": judge.cost.tokens,
                "usd": judge.cost.usd,
                "report": judge.report,
            })
        };
        let apart = |(item, human, said): (String, Option<f64>, Vec<Option<f64>>)| {
            let said: BTreeMap<&str, Option<f64>> = judges.iter().map(|judge| judge.name).zip(said).collect();
            json!({"item": item, "people": human, "judges": said})
        };
        json!({
            "metric": key.to_string(),
            "judges": judges.iter().map(judge).collect::<Vec<_>>(),
            "disagreements": self::apart(judges).into_iter().map(apart).collect::<Vec<_>>(),
        })
    };
    json!({"metrics": placed.iter().map(metric).collect::<Vec<_>>()})
}
