//! Reads the score of a reply, as it is or weighted by its probabilities.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{metric::numbered::Part, model::SCORE_PROBABILITIES};

/// The share of all that the judge could have said that its scores must cover. Below it, more was left out than was seen.
const LEAST_MASS: f64 = 0.5;

/// What rounding may add to a sum of probabilities.
const ROUNDING: f64 = 1e-3;

/// A score on the scale 1 to `scale` as a number from 0 to 1.
pub(super) fn normalised(score: f64, scale: usize) -> f64 {
    (score - 1.0) / (scale - 1) as f64
}

/// The score of a reply.
///
/// # Errors
/// It is missing or no whole number on the scale.
pub(super) fn score(reply: &Value, scale: usize) -> Result<usize, String> {
    Part::whole(reply)?.number("score", scale)?.ok_or_else(|| "the reply has no `score`".to_owned())
}

/// The probability of each score on the scale that was seen; `None` where the reply carries none.
///
/// # Errors
/// The reply has no score, or what it carries are no probabilities, in which the score given is one.
pub(super) fn score_with_probabilities(reply: &Value, scale: usize) -> Result<Option<BTreeMap<usize, f64>>, String> {
    let given = score(reply, scale)?;
    let Some(carried) = reply.get(SCORE_PROBABILITIES) else { return Ok(None) };
    let carried = carried.as_object().ok_or_else(|| format!("`{SCORE_PROBABILITIES}` is no object"))?;
    let mut probabilities = BTreeMap::new();
    for (name, value) in carried {
        let probability = value.as_f64().filter(|p| (0.0..=1.0 + ROUNDING).contains(p));
        let (Ok(number), Some(probability)) = (name.parse::<usize>(), probability) else {
            return Err(format!(
                "`{SCORE_PROBABILITIES}` holds `{name}`: {value}, which is no score with its probability"
            ));
        };
        if (1..=scale).contains(&number) && probabilities.insert(number, probability).is_some() {
            return Err(format!("`{SCORE_PROBABILITIES}` holds the score {number} twice"));
        }
    }
    if !probabilities.contains_key(&given) {
        return Err(format!("`{SCORE_PROBABILITIES}` lacks the score that was given, {given}"));
    }
    Ok(Some(probabilities))
}

/// The expected score: the paper's equation 1 over the scores seen, whose probabilities are divided by their sum.
///
/// # Errors
/// Together they are below one half or above 1.
pub(super) fn expected_score(probabilities: &BTreeMap<usize, f64>) -> Result<f64, String> {
    let mass: f64 = probabilities.values().sum();
    if mass > 1.0 + ROUNDING {
        return Err(format!("the probabilities of the scores add up to {mass:.3}"));
    }
    if mass < LEAST_MASS {
        return Err(format!(
            "the scores seen have a probability of {mass:.3} together; below {LEAST_MASS} more was left out than seen"
        ));
    }
    // Counted down from the best score seen, so that rounding can't lift the result above it.
    let best = probabilities.keys().max().map_or(0.0, |score| *score as f64);
    let missed: f64 = probabilities.iter().map(|(score, p)| (best - *score as f64) * (p / mass)).sum();
    Ok(best - missed)
}
