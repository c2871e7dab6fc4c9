//! What a metric asked of a model for one case: the prompt, the reply, and whether that was stored.

use std::path::Path;

use rageval_runner::{
    judge::prompt::Prompts,
    model::{
        AskedOf, EmbedRequest, Ending, Exchange, JudgeRequest, MetricKey, Reply, ReplySource, Request, Sample, Taken,
        Transcript, run::Run,
    },
    store::replies::ReplyStore,
};
use serde::Serialize;

use super::{
    measured::Scene,
    nearest::{self, Nearest},
};
use crate::{command::replies::Stored, context::Context};

/// One request with its reply.
#[derive(Debug, Serialize)]
pub(super) struct Asked {
    /// `metric.step`.
    pub(super) name: String,
    /// Which repeat of the case asked, from 1; `None` where it was asked once.
    pub(super) repeat: Option<usize>,
    /// What was asked, as the run has it.
    pub(super) request: Request,
    /// The messages to the judge, as its prompts stand here.
    pub(super) prompt: Prompted,
    pub(super) reply: Reply,
    /// Where the reply came from, where the run says.
    pub(super) source: Option<ReplySource>,
    pub(super) stored: Vec<OfStore>,
    /// The lines that say where the reply came from and why.
    pub(super) why: Vec<String>,
    /// On a miss: the stored request of the same name and case that is most like it.
    pub(super) nearest: Option<Nearest>,
}

/// The messages to a judge.
#[derive(Debug, Serialize)]
#[serde(tag = "prompt", rename_all = "snake_case")]
pub(super) enum Prompted {
    /// As sent.
    Messages { system: String, user: String, schema: String },
    /// None was sent, or it can't be told.
    None { why: String },
}

/// What stands in the store for a request: of a judge one, of an embedder one for each text.
#[derive(Debug, Serialize)]
pub(super) struct OfStore {
    pub(super) key: String,
    pub(super) file: String,
    pub(super) judge: String,
    pub(super) model: String,
    /// The day it was stored, and the case for which it was asked first; `None` where nothing is stored.
    pub(super) stored: Option<(String, String)>,
    /// Why what is stored cannot be read.
    pub(super) fault: Option<String>,
}

impl Asked {
    /// Everything that a metric asked for the case of a run.
    pub(super) fn all(scene: &Scene<'_>, key: &MetricKey, run: &Run, path: &Path, context: &Context) -> Vec<Self> {
        let stored = Stored::of_policy(context).ok();
        let desk = Desk { scene, run, path, context, stored: stored.as_ref() };
        let mut all = Vec::new();
        for (repeat, sample, transcript) in samples(scene) {
            for exchange in scene.asked(key, sample, transcript) {
                all.push(desk.asked(exchange, repeat));
            }
        }
        all
    }
}

/// Every answer of the case with what was asked about it.
fn samples<'a>(scene: &Scene<'a>) -> Vec<(Option<usize>, &'a Sample, &'a Transcript)> {
    let sample = |taken: &'a Taken| match taken {
        Taken::Sample(sample) => Some(sample),
        Taken::Failed(_) => None,
    };
    match &scene.record.repeats {
        None => sample(&scene.record.taken).map(|one| (None, one, &scene.record.transcript)).into_iter().collect(),
        Some(repeats) => (1..)
            .zip(&repeats.each)
            .filter_map(|(number, repeat)| Some((Some(number), sample(&repeat.taken)?, &repeat.transcript)))
            .collect(),
    }
}

/// Everything that is needed to tell of a request.
struct Desk<'a> {
    scene: &'a Scene<'a>,
    run: &'a Run,
    path: &'a Path,
    context: &'a Context,
    stored: Option<&'a Stored>,
}

impl Desk<'_> {
    fn asked(&self, exchange: &Exchange, repeat: Option<usize>) -> Asked {
        let Exchange { request, reply, of, source } = exchange;
        let prompt = match request {
            Request::Judge(request) => self.prompt(*of, request),
            Request::Embed(EmbedRequest { .. }) => none("an embedder gets the texts as they are"),
        };
        let stored = self.of_store(exchange);
        let mut why = self.why(exchange, &stored);
        let is_missed = match source {
            Some(ReplySource::Stored) => false,
            Some(ReplySource::Asked | ReplySource::PartlyStored) => true,
            None => is_missing(reply),
        };
        let nearest = match (request, self.usable()) {
            (Request::Judge(request), Some(stored)) if is_missed && of.is_policy() => {
                nearest::of(request, &self.scene.record.case, self.run, self.path, self.context, stored)
            }
            (Request::Judge(_) | Request::Embed(_), _) => None,
        };
        if is_missed && nearest.is_none() && !stored.is_empty() {
            why.push(
                "no other run here has a request of this name for the case, so what differs cannot be told".to_owned(),
            );
        }
        Asked {
            name: request.name().to_owned(),
            repeat,
            request: request.clone(),
            prompt,
            reply: reply.clone(),
            source: *source,
            stored,
            why,
            nearest,
        }
    }

    /// The store of the policy, where its judge is the one of the run: keys of another find nothing.
    fn usable(&self) -> Option<&Stored> {
        self.stored.filter(|stored| stored.stamp.fingerprint == self.run.manifest.judge.fingerprint)
    }

    fn prompt(&self, of: AskedOf, request: &JudgeRequest) -> Prompted {
        if of == AskedOf::Offline || ["offline", "scripted"].contains(&self.run.manifest.judge.provider.as_str()) {
            let judge = if of == AskedOf::Offline { "offline" } else { self.run.manifest.judge.provider.as_str() };
            return none(&format!("the judge `{judge}` is code and gets the fields as they are"));
        }
        let Some(policy) = &self.scene.here.policy else {
            return none("no thresholds.yaml here, which says with which prompts");
        };
        if self.stored.is_some() && self.usable().is_none() {
            return none(
                "thresholds.yaml names another judge, other prompts or other parameters now than those of the run",
            );
        }
        let prompts: &Prompts = &policy.judge.prompts;
        match prompts.render(request) {
            Ok(prompt) => Prompted::Messages {
                system: prompt.system.to_string(),
                user: prompt.user,
                schema: prompt.schema_text.to_string(),
            },
            Err(error) => none(&error.to_string()),
        }
    }

    fn of_store(&self, exchange: &Exchange) -> Vec<OfStore> {
        let Some(stored) = self.usable() else { return Vec::new() };
        let (store, named): (&ReplyStore, _) = match exchange.request {
            Request::Judge(_) => {
                (&stored.reply_store, stored.replies.as_ref().map(|keys| (keys.judge(), keys.model())))
            }
            Request::Embed(_) => {
                (&stored.vector_store, stored.vectors.as_ref().map(|keys| (keys.embedder(), keys.model())))
            }
        };
        let (judge, model) = named.unwrap_or_default();
        let keys = stored.keys(exchange).unwrap_or_default();
        let of = |key: &rageval_runner::judge::key::ReplyKey| {
            let (stored, fault) = match store.get(key) {
                Ok(entry) => (entry.map(|entry| (entry.stored, entry.case)), None),
                Err(error) => (None, Some(error.to_string())),
            };
            OfStore {
                key: key.to_string(),
                file: store.path(key).display().to_string(),
                judge: judge.to_owned(),
                model: model.to_owned(),
                stored,
                fault,
            }
        };
        keys.iter().map(of).collect()
    }

    /// Where the reply came from, and why.
    fn why(&self, exchange: &Exchange, stored: &[OfStore]) -> Vec<String> {
        let judge = &self.run.manifest.judge;
        if exchange.of == AskedOf::Offline || ["offline", "scripted"].contains(&judge.provider.as_str()) {
            return match exchange.request {
                Request::Judge(_) => vec!["not stored: the judge is code, or a file, and costs nothing".to_owned()],
                Request::Embed(_) => Vec::new(),
            };
        }
        let mode = self.run.manifest.reply_mode.as_deref();
        let in_mode = mode.map(|mode| format!(" (mode `{mode}`)")).unwrap_or_default();
        let mut lines = vec![match (exchange.source, &exchange.reply) {
            (Some(ReplySource::Stored), _) => format!("hit: it was stored, by an earlier run or for another case of this one{in_mode}"),
            (Some(ReplySource::PartlyStored), _) => format!("partly hit: some vectors were stored, the others were asked for{in_mode}"),
            (Some(ReplySource::Asked), _) if mode == Some("live") => {
                "miss: asked for, since the mode `live` asks for everything".to_owned()
            }
            (Some(ReplySource::Asked), _) => format!("miss: asked for, since nothing was stored under its key{in_mode}"),
            (None, reply) if is_missing(reply) => format!("miss: nothing was stored under its key, and nothing may be asked{in_mode}"),
            (None, Reply::Failed { ending, .. }) if !ending.was_sent() => format!("nothing was sent: {}", ending.cause()),
            (None, _) => "the run does not say whether it was stored: an older rageval wrote it, or the model's replies are not stored".to_owned(),
        }];
        if self.stored.is_some() && self.usable().is_none() {
            lines.push("its key cannot be told: the run was judged by another judge, other prompts or other parameters than thresholds.yaml names now".to_owned());
        }
        let (there, all) = (stored.iter().filter(|one| one.stored.is_some()).count(), stored.len());
        match (there, all) {
            (_, 0) => {}
            (there, all) if there == all => lines.push("stored now: the next run asks nothing".to_owned()),
            (0, _) => lines.push("not stored now: the next run asks for it".to_owned()),
            (there, all) => lines.push(format!("stored now: {there} of {all}; the next run asks for the rest")),
        }
        lines
    }
}

fn is_missing(reply: &Reply) -> bool {
    matches!(reply, Reply::Failed { ending: Ending::Missing, .. })
}

fn none(why: &str) -> Prompted {
    Prompted::None { why: why.to_owned() }
}
