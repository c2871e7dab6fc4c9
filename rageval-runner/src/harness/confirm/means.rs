//! Reads both sides of a suspected drop of a mean once more.

use std::collections::BTreeSet;

use futures_util::StreamExt as _;

use super::{Again, Desk, suspect::OF_BASELINE, whole};
use crate::{
    gate::{self, DropTests, Gate, case_findings},
    harness::{session::store_problem, setup::Problem, verdict},
    metric::reread::score_of,
    model::{
        CaseId, GoldenCase, Heard, MetricKey, Outcome, Readings, Record, Sample, Scores, SecondReading, UnitInterval,
        run::BaselineCase,
    },
    store::{baseline::text_digest, readings::Purpose},
};

/// What came of it.
#[derive(Default)]
pub(super) struct Found {
    pub(super) readings: Vec<Again>,
    /// Gates that are suspected and were not looked at once more, since the run is red already.
    pub(super) left: BTreeSet<String>,
}

/// Where one of these gates is decided with a p-value and any of those is suspected: reads the pairs whose answer changed.
///
/// The others have the requests that the baseline's own readings had, byte by byte, so that another reading of them would tell nothing.
pub(super) async fn read_again(desk: &Desk<'_>, scores: &Scores, gates: &[usize]) -> Result<Found, Problem> {
    let session = desk.session;
    let basis = verdict::basis(session);
    let mut found = Found::default();
    if !gates.iter().any(|index| gate::is_tested(&session.gates[*index], &basis)) {
        return Ok(found);
    }
    let names: BTreeSet<String> = gate::suspected(&session.gates, scores, &basis).into_iter().collect();
    if names.is_empty() {
        return Ok(found);
    }
    if is_red(desk, scores) {
        found.left = names;
        return Ok(found);
    }
    let suspected = session.gates.iter().filter(|gate| names.contains(&gate.name));
    let mut pairs: BTreeSet<(CaseId, MetricKey)> = BTreeSet::new();
    for gate in suspected {
        let Some(metric) = &gate.metric else { continue };
        for case in &gate.population {
            if is_changed(desk, scores, case)? {
                pairs.insert((case.clone(), metric.clone()));
            }
        }
    }
    let reading = pairs.into_iter().map(|(case, metric)| read_pair(desk, scores, case, metric));
    let mut read = futures_util::stream::iter(reading).buffer_unordered(session.width());
    while let Some(readings) = read.next().await {
        found.readings.extend(readings?);
    }
    // The order of ending is nobody's business.
    found.readings.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    Ok(found)
}

/// Whether the run is red whatever the suspected drops come to: by a case they rest on, or by a gate over no others than these.
fn is_red(desk: &Desk<'_>, scores: &Scores) -> bool {
    let session = desk.session;
    let basis = verdict::basis(session);
    let tested = || session.gates.iter().filter(|gate| gate::is_tested(gate, &basis));
    let cases: BTreeSet<&CaseId> = tested().flat_map(|gate| &gate.population).collect();
    let is_red_case = |case: &&GoldenCase| {
        let scores = scores.get(&case.id).filter(|_| cases.contains(&case.id));
        scores.is_some_and(|scores| case_findings(case, scores, &basis).ruling(basis.rules.max_unmeasured).is_red())
    };
    let is_red_gate = |gate: &Gate| {
        let rests_on_them = gate.population.iter().all(|case| cases.contains(case));
        rests_on_them
            && !gate::is_tested(gate, &basis)
            && gate::decide_gate(gate, &session.files.set, scores, &basis, &DropTests::default()).ruling.is_red()
    };
    session.files.set.cases.iter().any(|case| is_red_case(&case)) || session.gates.iter().any(is_red_gate)
}

/// Whether the answer of a case is another one than the baseline's. What repeats came to rests on several readings already.
fn is_changed(desk: &Desk<'_>, scores: &Scores, case: &CaseId) -> Result<bool, Problem> {
    let accepted = desk.session.baseline.as_ref().and_then(|baseline| baseline.cases.get(case));
    let pair = accepted
        .zip(scores.get(case))
        .filter(|(accepted, scores)| accepted.digest == scores.digest && !scores.is_repeated);
    let Some((accepted, _)) = pair else { return Ok(false) };
    Ok(whole(desk.session, case)?.sample().is_some_and(|sample| !is_same(sample, accepted)))
}

fn is_same(sample: &Sample, accepted: &BaselineCase) -> bool {
    let contexts = &sample.answer.retrieved_contexts;
    sample.answer.response == accepted.response
        && sample.answer.refused == accepted.refused
        && contexts.len() == accepted.context_digests.len()
        && contexts.iter().zip(&accepted.context_digests).all(|(context, digest)| text_digest(&context.text) == *digest)
}

/// A fresh reading of both sides of one pair; nothing where a side has no score, or fails to give a reading.
async fn read_pair(desk: &Desk<'_>, scores: &Scores, id: CaseId, metric: MetricKey) -> Result<Option<Again>, Problem> {
    let case = desk.case(&id)?;
    if !scores.contains_key(&id) {
        return Ok(None);
    }
    let record = whole(desk.session, &id)?;
    let read = async || {
        let second = both_sides(desk, case, &record, &metric).await;
        Ok(Readings { second, second_failed: second.is_none(), ..Readings::default() })
    };
    let readings = match &desk.further {
        Some(further) => further.find_or(case, &metric, Purpose::Mean, read).await,
        None => read().await,
    };
    Ok(Some((id, metric, readings.map_err(|error| store_problem(&error))?)))
}

async fn both_sides(desk: &Desk<'_>, case: &GoldenCase, record: &Record, metric: &MetricKey) -> Option<SecondReading> {
    let accepted = desk.session.baseline.as_ref()?.cases.get(&case.id)?.outcomes.get(metric)?;
    let answer = desk.answers.as_ref().ok()?.sample_of(case)?;
    let compares = |metric: &&crate::gate::MetricFacts| metric.reads_baseline;
    if desk.session.facts.get(metric.name()).as_ref().is_some_and(compares) {
        // The baseline's own score was a comparison with another answer, which is gone.
        return None;
    }
    let now = fresh_score(desk, case, record.sample()?, metric, record.outcomes.get(metric)?, 1);
    let before = fresh_score(desk, case, &answer, metric, accepted, OF_BASELINE + 1);
    let (now, before) = tokio::join!(now, before);
    Some(SecondReading { before: before?, now: now? })
}

/// The score of a fresh reading; the first one where no judge has a say in it.
async fn fresh_score(
    desk: &Desk<'_>,
    case: &GoldenCase,
    sample: &Sample,
    metric: &MetricKey,
    first: &Outcome,
    number: u32,
) -> Option<UnitInterval> {
    let score = first.score()?;
    if !desk.evaluation.is_asked(case, sample, metric) {
        return Some(score);
    }
    match desk.evaluation.reread(case, sample, metric, first, number).await.heard {
        Heard::Score { score } => Some(score),
        Heard::Nothing { .. } => None,
        Heard::Verdicts { verdicts } => desk.evaluation.with_input(case, sample, metric, |metric, input| {
            let reread = metric.rereads()?;
            let bad: Vec<bool> = verdicts.iter().map(|verdict| reread.is_bad(input.params, *verdict)).collect();
            UnitInterval::new(score_of(reread, input, &bad)?).ok()
        })?,
    }
}
