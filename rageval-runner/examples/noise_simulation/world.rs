//! One simulated run: a system, a judge that flips, a baseline, and what rageval's own code decides over them.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::truth::{OF_BASELINE, Setting, Truth, Uniform, truth};
use rageval_runner::{
    Answer,
    gate::{
        Basis, DropTests, Gate, MetricFacts, case_findings, decide_gate, drop_tests, gates,
        noise::{self, Case, Next, Progress, Start, Suspect, may_start},
        plan::GateRule,
        rule::{Bottom10Rule, Confirm, MeanRule, MetricRule, Regression, Rules, SliceField, Slices},
        suspected,
    },
    metric::Kind,
    model::{
        CaseId, CaseScores, Claim, Confirmation, Detail, GoldenCase, GoldenSet, Heard, Language, MetricKey, Outcome,
        Place, Readings, Record, Records, Sample, Scores, SecondReading, Taken, Transcript, UnitInterval, Verdict,
        run::{Baseline, BaselineCase, JudgeStamp},
    },
    stats::draw::Draws,
};

/// What is red.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Red {
    /// Cases.
    pub(crate) cases: usize,
    /// Cases that truly lost a claim.
    pub(crate) lost_cases: usize,
    /// Whether any gate of this kind is: `mean`, `mean_drop`, `bottom10`, `bottom10_drop`.
    pub(crate) gates: [bool; 4],
}

impl Red {
    /// Whether the run is red.
    pub(crate) fn any(&self) -> bool {
        self.cases > 0 || self.gates.contains(&true)
    }

    /// Whether it is red for what was lost: a lost case, or a gate over many.
    pub(crate) fn finds(&self) -> bool {
        self.lost_cases > 0 || self.gates.contains(&true)
    }
}

/// What became of one run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ran {
    /// By the rule.
    pub(crate) rule: Red,
    /// Where first readings decide, of either side.
    pub(crate) naive: Red,
    /// Requests beyond the first readings, for suspects.
    pub(crate) for_suspects: usize,
    /// Requests for a second reading of both sides, where the drop of a mean was suspected.
    pub(crate) for_means: usize,
}

/// The policy and the set, which no run changes.
pub(crate) struct Scene {
    rules: Rules,
    set: GoldenSet,
    gates: Vec<Gate>,
    metric: MetricKey,
    metrics: BTreeMap<String, MetricFacts>,
    judge: JudgeStamp,
    depth: u32,
}

fn unit(number: f64) -> UnitInterval {
    UnitInterval::new(number).expect("a score")
}

impl Ran {
    /// Requests beyond the first readings.
    pub(crate) fn extra(&self) -> usize {
        self.for_suspects + self.for_means
    }
}

impl Scene {
    /// The example of the documentation: `min` 0.85, `max_drop` 0.10, `mean: {min: 0.85, max_drop: 0.02}`, `bottom10: {min: 0.50, max_drop: 0.10}`, the
    /// last two over the set and each of three languages.
    pub(crate) fn new(cases: usize) -> Self {
        let metric = MetricKey::parse("faithfulness").expect("a metric");
        let mut rule = MetricRule { min: Some(unit(0.85)), max_drop: Some(unit(0.10)), ..MetricRule::default() };
        rule.set.mean = Some(MeanRule { min: Some(unit(0.85)), max_drop: Some(unit(0.02)), ..MeanRule::default() });
        rule.set.bottom10 =
            Some(Bottom10Rule { min: Some(unit(0.50)), max_drop: Some(unit(0.10)), ..Bottom10Rule::default() });
        let rules = Rules {
            metrics: [(metric.clone(), rule)].into(),
            slices: Slices { by: vec![(Place::default(), SliceField::Language)], ..Slices::default() },
            regression: Some(Regression {
                baseline: "main.json".into(),
                decision: None,
                window: None,
                place: Place::default(),
            }),
            confirm: Confirm::default(),
            ..Rules::default()
        };
        let cases = (0..cases).map(golden_case).collect();
        let set = GoldenSet { cases, ..GoldenSet::default() };
        let gates = gates(&rules, &set);
        let facts = MetricFacts { kind: Kind::Judged, version: 1, reads_baseline: false, judged_when: None };
        let metrics = BTreeMap::from([("faithfulness".to_owned(), facts)]);
        let judge = JudgeStamp { provider: "simulated".into(), model: "1".into(), fingerprint: "1".into() };
        let mut scene = Self { rules, set, gates, metric, metrics, judge, depth: 0 };
        scene.depth = noise::depth(noise::pairs_with_rules(&scene.set, &scene.basis(None)));
        scene
    }

    fn basis<'a>(&'a self, baseline: Option<&'a Baseline>) -> Basis<'a> {
        Basis {
            rules: &self.rules,
            baseline,
            history: &[],
            judge: &self.judge,
            metrics: &self.metrics,
            seed: 0,
            target: "rag_regression",
        }
    }

    /// Simulates the run of this number.
    pub(crate) fn run(&self, setting: &Setting, number: u32) -> Ran {
        let world = World::new(self, setting, number);
        let baseline = world.baseline(BuiltFrom::ThreeReadings);
        let basis = self.basis(Some(&baseline));
        let mut records = world.records();
        let scores = scores_of(&records);
        let suspects = noise::suspects(&self.set, &scores, &self.gates, &basis, &|_, _| true);
        world.confirm(&suspects, &mut records, &baseline);
        let for_suspects = world.asked.get();
        let mut red = self.decide(&records, &basis, &world);
        // A run that is red already, by anything but such a drop itself, skips the fresh readings.
        let is_red_already = red != Red { gates: [false, red.gates[1], false, false], ..Red::default() };
        let suspected = if is_red_already { Vec::new() } else { suspected(&self.gates, &scores_of(&records), &basis) };
        if !suspected.is_empty() {
            world.read_second(&suspected, &mut records);
            red = self.decide(&records, &basis, &world);
        }
        let single = world.baseline(BuiltFrom::OneReading);
        let naive = self.decide(&world.records(), &self.basis(Some(&single)), &world);
        Ran { rule: red, naive, for_suspects, for_means: world.asked.get() - for_suspects }
    }

    fn decide(&self, records: &Records, basis: &Basis<'_>, world: &World<'_>) -> Red {
        let scores = &scores_of(records);
        let mut red = Red::default();
        for (case, truth) in self.set.cases.iter().zip(&world.truths) {
            let is_red = case_findings(case, &scores[&case.id], basis).ruling(0).is_red();
            red.cases += usize::from(is_red);
            red.lost_cases += usize::from(is_red && truth.lost.is_some());
        }
        let tests: DropTests = drop_tests(&self.gates, scores, basis);
        for gate in &self.gates {
            let place = match gate.rule {
                GateRule::Mean { .. } => 0,
                GateRule::MeanDrop { .. } => 1,
                GateRule::Bottom10 { .. } => 2,
                GateRule::Bottom10Drop { .. } => 3,
                GateRule::PassRate { .. } | GateRule::WindowDrop { .. } | GateRule::Unmeasured { .. } => continue,
            };
            red.gates[place] |= decide_gate(gate, &self.set, scores, basis, &tests).ruling.is_red();
        }
        red
    }
}

fn golden_case(number: usize) -> GoldenCase {
    let (tag, language) = [("en", Language::En), ("pt", Language::Pt), ("zh", Language::Zh)][number % 3];
    GoldenCase {
        language_tag: Some(tag.to_owned()),
        language,
        group: String::new(),
        ..GoldenCase::new(CaseId::new(format!("c{number:04}")).expect("an id"), "")
    }
}

/// How many readings a baseline is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BuiltFrom {
    /// The majority of three for each claim, as `baseline accept` does.
    ThreeReadings,
    /// The first one.
    OneReading,
}

/// Which answer of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Baseline,
    Now,
}

struct World<'a> {
    scene: &'a Scene,
    setting: Setting,
    number: u32,
    truths: Vec<Truth>,
    /// Requests beyond the first readings, and the readings that are stored by now: case, whether of the baseline's answer, sample.
    asked: Cell<usize>,
    stored: RefCell<BTreeSet<(usize, bool, u32)>>,
}

impl<'a> World<'a> {
    fn new(scene: &'a Scene, setting: &Setting, number: u32) -> Self {
        let mut lost = vec![false; setting.cases];
        let order = Draws::seeded((u64::from(number) << 32) | 0xffff_0000).order(setting.cases);
        order.into_iter().take(setting.lost).for_each(|case| lost[case] = true);
        let truths = lost.into_iter().enumerate().map(|(case, lost)| truth(setting, number, case, lost)).collect();
        Self { scene, setting: *setting, number, truths, asked: Cell::default(), stored: RefCell::default() }
    }

    /// Whether the reading with this number of sample finds each claim bad.
    fn reading(&self, case: usize, side: Side, sample: u32) -> Vec<bool> {
        let truth = &self.truths[case];
        let (chances, stream) = match (side, &truth.changed) {
            (Side::Now, Some(changed)) => (changed, 0),
            (Side::Baseline, _) | (Side::Now, None) => (&truth.baseline, OF_BASELINE),
        };
        let sample = if self.setting.repeats { 0 } else { sample };
        let mut draws = Uniform::of(self.number, case, stream | u64::from(sample));
        chances.iter().map(|chance| draws.next() < *chance).collect()
    }

    /// The same, asked for beyond the first reading: counted unless its reply is stored. `baseline accept` stored samples 0 to 2 of the baseline's answer.
    fn ask(&self, case: usize, side: Side, sample: u32) -> Vec<bool> {
        let is_baselines = side == Side::Baseline || self.truths[case].changed.is_none();
        let is_stored = is_baselines && sample <= 2;
        if !is_stored && self.stored.borrow_mut().insert((case, is_baselines, sample)) {
            self.asked.set(self.asked.get() + 1);
        }
        self.reading(case, side, sample)
    }

    fn records(&self) -> Records {
        let record = |(number, case): (usize, &GoldenCase)| {
            let outcome = outcome_of(&self.reading(number, Side::Now, 0));
            let sample = Sample { answer: Answer::new("now"), is_refusal: false, latency_ms: None };
            let outcomes = [(self.scene.metric.clone(), outcome)].into();
            let (id, digest) = (case.id.clone(), String::new());
            (case.id.clone(), Arc::new(Record::new(id, digest, Taken::Sample(sample), outcomes, Transcript::default())))
        };
        self.scene.set.cases.iter().enumerate().map(record).collect()
    }

    fn baseline(&self, built_from: BuiltFrom) -> Baseline {
        let mut baseline = Baseline::default();
        baseline.manifest.judge = self.scene.judge.clone();
        baseline.manifest.metric_versions.insert("faithfulness".to_owned(), 1);
        for (number, case) in self.scene.set.cases.iter().enumerate() {
            let first = self.reading(number, Side::Baseline, 0);
            let bad = match built_from {
                BuiltFrom::OneReading => first.clone(),
                BuiltFrom::ThreeReadings => {
                    let others = [1, 2].map(|sample| self.reading(number, Side::Baseline, sample));
                    let votes = |at: usize| usize::from(first[at]) + others.iter().filter(|other| other[at]).count();
                    (0..first.len()).map(|at| votes(at) >= 2).collect()
                }
            };
            let outcome = match built_from {
                BuiltFrom::ThreeReadings => outcome_of(&bad).read_first_as(&outcome_of(&first)),
                BuiltFrom::OneReading => outcome_of(&bad),
            };
            let accepted = BaselineCase {
                digest: String::new(),
                response: "then".to_owned(),
                refused: None,
                retrieved: Vec::new(),
                context_digests: Vec::new(),
                outcomes: [(self.scene.metric.clone(), outcome)].into(),
            };
            baseline.cases.insert(case.id.clone(), accepted);
        }
        baseline
    }

    /// Reads the suspects again, in their order, as a run does.
    fn confirm(&self, suspects: &[Suspect], records: &mut Records, baseline: &Baseline) {
        let confirm = &self.scene.rules.confirm;
        let budget = confirm.budget(self.setting.cases);
        let mut progress = Progress::default();
        for suspect in suspects {
            let before = self.asked.get();
            let (now, of_baseline, confirmation) = match may_start(progress, confirm, budget, self.scene.depth) {
                Start::Now => {
                    let accepted = &baseline.cases[&suspect.case].outcomes[&self.scene.metric];
                    self.settle(suspect, &records[&suspect.case], accepted)
                }
                Start::Wait => unreachable!("nothing else is being read"),
                Start::Never(why) => (Vec::new(), Vec::new(), (Confirmation::NotConfirmed { why }, false)),
            };
            let (confirmation, breaks_case_rule) = confirmation;
            progress.asked += self.asked.get() - before;
            progress.confirmed += usize::from(suspect.counts && breaks_case_rule);
            let readings =
                Readings { now, baseline: of_baseline, confirmation: Some(confirmation), ..Readings::default() };
            let record = Arc::make_mut(records.get_mut(&suspect.case).expect("a record"));
            record.readings.insert(self.scene.metric.clone(), readings);
        }
    }

    /// Reads one suspect until it is settled.
    fn settle(
        &self,
        suspect: &Suspect,
        record: &Record,
        accepted: &Outcome,
    ) -> (Vec<Heard>, Vec<Heard>, (Confirmation, bool)) {
        let first = &record.outcomes[&self.scene.metric];
        let (bad, stored) = (bad_of(first), bad_of(accepted));
        let case = Case {
            bad: &bad,
            first: first.score().expect("a score").get(),
            bars: suspect.bars,
            depth: self.scene.depth,
            score: &share_of_good,
            is_bad: &is_bad,
            baseline: Some(&stored),
        };
        let number = self.scene.set.cases.iter().position(|case| case.id == suspect.case).expect("a case");
        let (mut now, mut baseline) = (Vec::new(), Vec::new());
        loop {
            let hear = |side, heard: &[Heard]| {
                let bad = self.ask(number, side, heard.len() as u32 + 1);
                Heard::Verdicts { verdicts: bad.into_iter().map(verdict).collect() }
            };
            match noise::next(&case, &now, &baseline) {
                Next::ReadNow => now.push(hear(Side::Now, &now)),
                Next::ReadBaseline => baseline.push(hear(Side::Baseline, &baseline)),
                Next::Done(settled) => {
                    let confirmation = noise::confirmation(first, &settled, &now, &is_bad);
                    return (now, baseline, (confirmation, settled.breaks_case_rule));
                }
                Next::NotConfirmed(why) => return (now, baseline, (Confirmation::NotConfirmed { why }, false)),
            }
        }
    }

    /// Reads both sides of the changed pairs of these gates once more.
    fn read_second(&self, gates: &[String], records: &mut Records) {
        let of_gates = self.scene.gates.iter().filter(|gate| gates.contains(&gate.name));
        let cases: BTreeSet<&CaseId> = of_gates.flat_map(|gate| &gate.population).collect();
        for (number, case) in self.scene.set.cases.iter().enumerate() {
            if self.truths[number].changed.is_none() || !cases.contains(&case.id) {
                continue;
            }
            let share = |side| unit(share_of_good(&self.ask(number, side, 1)));
            let second = SecondReading { before: share(Side::Baseline), now: share(Side::Now) };
            let record = Arc::make_mut(records.get_mut(&case.id).expect("a record"));
            record.readings.entry(self.scene.metric.clone()).or_default().second = Some(second);
        }
    }
}

fn scores_of(records: &Records) -> Scores {
    CaseScores::of_all(records.values().map(AsRef::as_ref))
}

fn verdict(bad: bool) -> Verdict {
    if bad { Verdict::Unsupported } else { Verdict::Supported }
}

fn is_bad(verdict: Verdict) -> bool {
    verdict == Verdict::Unsupported
}

fn bad_of(outcome: &Outcome) -> Vec<bool> {
    outcome.detail().expect("a score").claims.iter().map(|claim| is_bad(claim.verdict)).collect()
}

fn share_of_good(bad: &[bool]) -> f64 {
    bad.iter().filter(|bad| !**bad).count() as f64 / bad.len() as f64
}

fn outcome_of(bad: &[bool]) -> Outcome {
    let claim = |bad: &bool| Claim { text: String::new(), verdict: verdict(*bad), evidence: None, reason: None };
    let detail = Detail { claims: bad.iter().map(claim).collect(), ..Detail::default() };
    Outcome::scored_with(unit(share_of_good(bad)), detail)
}
