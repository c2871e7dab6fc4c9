//! Has a judge write the evaluation steps for criteria: asked once, by a command, and reviewed before they count.

use serde_json::Value;

use crate::{
    metric::{Params, material, numbered::Part},
    model::{JudgeRequest, Language},
};

/// No more steps than that are taken from a judge.
const MOST: usize = 12;

/// The request for the steps of these parameters; `None` where they have no `criteria`.
pub fn request(params: &Params, language: Language) -> Option<JudgeRequest> {
    let criteria = params.text("criteria")?;
    let request = JudgeRequest::new("g_eval.steps", language).text("criteria", criteria);
    Some(request.numbered("fields", material::chosen_fields(params)))
}

/// The steps of a reply.
///
/// # Errors
/// There are none with a text, too many, or two are the same.
pub fn read(reply: &Value) -> Result<Vec<String>, String> {
    let steps: Vec<String> = Part::whole(reply)?.texts("steps")?.into_iter().map(str::to_owned).collect();
    if steps.is_empty() || MOST < steps.len() {
        return Err(format!("the reply has {} steps; 1 to {MOST} are wanted", steps.len()));
    }
    if let Some(step) = steps.iter().enumerate().find_map(|(i, step)| steps[..i].contains(step).then_some(step)) {
        return Err(format!("the step `{step}` stands twice"));
    }
    Ok(steps)
}
