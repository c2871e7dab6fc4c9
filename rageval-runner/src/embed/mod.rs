//! Embedders: whatever turns a text into a vector, so that likeness can be measured.

mod openai;
pub mod scripted;
pub mod spec;
pub mod stored;

use std::sync::Arc;

use self::{
    openai::OpenaiEmbedder,
    scripted::Scripted,
    spec::{EmbedderProvider, EmbedderSpec},
};
pub use crate::judge::Failed;
use crate::{
    judge::{Spent, tokens_of},
    model::{case::Fields, run::JudgeStamp},
    system::BoxFuture,
};

/// Texts that are sent in one request at most; some servers take no more by default.
pub const BATCH: usize = 32;

/// Who makes the vectors. Similarities of two embedders are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderStamp {
    /// `openai` or `scripted`.
    pub provider: String,
    /// The model with its version.
    pub model: String,
    /// Digest over what decides the vectors: provider and model, or all vectors of a script. Hex digits.
    pub fingerprint: String,
}

/// Vectors, and what they took.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One vector for each text, in their order, or why there are none.
    pub vectors: Result<Vec<Vec<f32>>, Failed>,
    /// What asking took.
    pub spent: Spent,
}

impl From<Result<Vec<Vec<f32>>, Failed>> for Embedded {
    /// Vectors that took nothing.
    fn from(vectors: Result<Vec<Vec<f32>>, Failed>) -> Self {
        Self { vectors, spent: Spent::default() }
    }
}

/// Whatever turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Who it is.
    fn stamp(&self) -> EmbedderStamp;

    /// Waits until the embedder's limits a minute let these texts be sent. Called before each request; no part of its time limit, since
    /// the waiting is ours.
    fn admit<'a>(&'a self, _texts: &'a [String]) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// One vector for each text, in their order; at most [`BATCH`] texts.
    ///
    /// What comes back has the length of `texts`, and all vectors are of one dimension, finite and not zero; anything else is a failure
    /// that says why.
    fn embed<'a>(&'a self, texts: &'a [String]) -> BoxFuture<'a, Embedded>;

    /// Why nothing can be sent although nothing is wrong with a text: the variable that should hold the key is unset or empty.
    fn missing_key(&self) -> Option<&str> {
        None
    }

    /// What changes no outcome and somebody should know, one line each. To be asked once all cases are done.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Makes the embedder of a policy; nothing is asked yet. An error names the file or key at fault.
///
/// `env` looks up a variable of the environment. A key that is not there is no error here: every request then says which is missing.
pub fn open(spec: &EmbedderSpec, env: &dyn Fn(&str) -> Option<String>) -> Result<Arc<dyn Embedder>, String> {
    match &spec.provider {
        EmbedderProvider::Scripted { vectors } => {
            let at = |why: String| format!("{}: {why}", vectors.display());
            let text = std::fs::read_to_string(vectors).map_err(|error| at(error.to_string()))?;
            Ok(Arc::new(Scripted::from_text(&text).map_err(|error| at(error.to_string()))?))
        }
        EmbedderProvider::Openai(hosted) => Ok(Arc::new(OpenaiEmbedder::new(hosted, spec.timeout, env)?)),
    }
}

/// The judge's stamp with the embedder's in its fingerprint: a score that holds another embedder's similarity is not comparable.
#[must_use]
pub fn folded(judge: JudgeStamp, embedder: &EmbedderStamp) -> JudgeStamp {
    let mut fields = Fields::default();
    fields.add("judge", &judge.fingerprint);
    fields.add("embedder", &embedder.fingerprint);
    JudgeStamp { fingerprint: fields.finish(), ..judge }
}

/// What one request for these texts may take: known before it is sent, and corrected once its reply says what it used. Tokens: four
/// letters each, or one character of a script without letters.
pub fn estimated(texts: &[String]) -> Spent {
    let tokens = texts.iter().map(|text| tokens_of(text)).sum();
    Spent { requests: 1, input_tokens: tokens, output_tokens: 0, estimated_tokens: tokens }
}

/// The cosine of the angle between two vectors, from -1 to 1; exactly 1 for equal ones. Reckoned in double precision.
///
/// # Errors
/// They have no direction or cannot be compared: different dimensions, none at all, a zero vector, a number that is not finite.
pub fn cosine(a: &[f32], b: &[f32]) -> Result<f64, String> {
    if a.len() != b.len() {
        return Err(format!("vectors of {} and {} dimensions", a.len(), b.len()));
    }
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    // Squares of single precision neither overflow nor vanish in double, nor does the product of two sums of them.
    let squares = dot(a, a) * dot(b, b);
    if !squares.is_finite() || squares == 0.0 {
        return Err("a vector that is zero or not finite".to_owned());
    }
    // By the inequality of Cauchy and Schwarz only rounding can lead beyond 1.
    Ok((dot(a, b) / squares.sqrt()).clamp(-1.0, 1.0))
}

/// Why a vector cannot be used; `None` when it can.
fn fault_of(vector: &[f32]) -> Option<&'static str> {
    if vector.is_empty() {
        Some("is empty")
    } else if vector.iter().any(|number| !number.is_finite()) {
        Some("holds a number that is not finite in single precision")
    } else if vector.iter().all(|number| *number == 0.0) {
        Some("is zero, so that it points nowhere")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_cosine_is_that_of_the_angle() {
        assert_eq!(cosine(&[3.0, 4.0], &[3.0, 4.0]), Ok(1.0));
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), Ok(0.0));
        assert_eq!(cosine(&[1.0, 2.0], &[-1.0, -2.0]), Ok(-1.0));
        assert_eq!(cosine(&[3.0, 4.0], &[4.0, 3.0]), Ok(0.96));
        assert_eq!(cosine(&[1e30, 0.0], &[1e30, 0.0]), Ok(1.0));
        assert_eq!(cosine(&[f32::MIN_POSITIVE], &[f32::MAX]), Ok(1.0));
    }

    #[test]
    fn vectors_without_direction_have_no_cosine() {
        assert_eq!(cosine(&[1.0], &[1.0, 0.0]), Err("vectors of 1 and 2 dimensions".to_owned()));
        for (a, b) in [([0.0], [1.0]), ([f32::NAN], [1.0]), ([f32::INFINITY], [1.0])] {
            assert_eq!(cosine(&a, &b), Err("a vector that is zero or not finite".to_owned()));
        }
        assert!(cosine(&[], &[]).is_err());
    }

    #[test]
    fn another_embedder_makes_another_judge() {
        let judge = JudgeStamp { provider: "offline".into(), model: "1".into(), fingerprint: "f".into() };
        let stamp = |fingerprint: &str| EmbedderStamp {
            provider: "openai".into(),
            model: "m".into(),
            fingerprint: fingerprint.to_owned(),
        };
        let (one, two) = (folded(judge.clone(), &stamp("a")), folded(judge.clone(), &stamp("b")));
        assert_eq!((one.provider.as_str(), one.model.as_str()), ("offline", "1"));
        assert_ne!(one.fingerprint, two.fingerprint);
        assert_ne!(one.fingerprint, judge.fingerprint);
        assert_eq!(folded(judge, &stamp("a")), one);
    }

    proptest! {
        #[test]
        fn a_cosine_lies_between_minus_one_and_one(pairs in prop::collection::vec((-1e6f32..1e6, -1e6f32..1e6), 1..20)) {
            let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            if fault_of(&a).is_none() && fault_of(&b).is_none() {
                let found = cosine(&a, &b).expect("a cosine");
                prop_assert!((-1.0..=1.0).contains(&found));
                prop_assert_eq!(cosine(&b, &a), Ok(found));
                prop_assert_eq!(cosine(&a, &a), Ok(1.0));
            }
        }
    }
}
