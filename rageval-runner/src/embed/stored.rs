//! What a vector is stored under, and as.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    fault_of,
    spec::{EmbedderProvider, EmbedderSpec},
};
use crate::judge::key::ReplyKey;

/// What stored vectors say they answer.
pub const REQUEST: &str = "embed.vector";

/// Version of how keys are made and vectors written.
const FORM: &str = "1";

/// The one member of a stored vector: base64 over its numbers, four bytes each, the lowest first.
const MEMBER: &str = "f32_le_base64";

/// Makes the keys of one embedder.
///
/// A key covers what the embedder is called, its model and the text. Where the same model is asked in another way, the key stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorKeys {
    embedder: String,
    model: String,
}

impl VectorKeys {
    /// The keys of an embedder whose vectors are worth storing; `None` for one that is a file and costs nothing.
    pub fn of(spec: &EmbedderSpec) -> Option<Self> {
        match &spec.provider {
            EmbedderProvider::Scripted { .. } => None,
            EmbedderProvider::Openai(hosted) => Some(Self { embedder: spec.called(), model: hosted.model.clone() }),
        }
    }

    /// What the embedder is called.
    pub fn embedder(&self) -> &str {
        &self.embedder
    }

    /// Its model.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The key of a text's vector.
    pub fn key(&self, text: &str) -> ReplyKey {
        ReplyKey::of([("form", FORM), ("embedder", &self.embedder), ("model", &self.model), ("text", text)])
    }
}

/// A vector as it is stored: every number comes back exactly.
pub fn to_value(vector: &[f32]) -> Value {
    let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
    json!({MEMBER: STANDARD.encode(bytes)})
}

/// The vector that was stored.
///
/// # Errors
/// It is none, or one that points nowhere.
pub fn from_value(value: &Value) -> Result<Vec<f32>, String> {
    let text = value.get(MEMBER).and_then(Value::as_str).ok_or_else(|| format!("it has no text `{MEMBER}`"))?;
    let bytes = STANDARD.decode(text).map_err(|error| format!("`{MEMBER}` is no base64: {error}"))?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(format!("`{MEMBER}` is cut within a number"));
    }
    let vector: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match fault_of(&vector) {
        Some(fault) => Err(format!("the vector {fault}")),
        None => Ok(vector),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::embed::spec::HostedEmbeddings;

    fn keys(change: impl FnOnce(&mut EmbedderSpec, &mut HostedEmbeddings)) -> VectorKeys {
        let mut hosted = HostedEmbeddings::new("http://127.0.0.1:1/v1", "m");
        let mut spec = EmbedderSpec::of_provider(EmbedderProvider::Scripted { vectors: "v".into() });
        change(&mut spec, &mut hosted);
        spec.provider = EmbedderProvider::Openai(Box::new(hosted));
        VectorKeys::of(&spec).expect("vectors of a hosted embedder are stored")
    }

    #[test]
    fn name_model_and_text_decide_a_key_and_nothing_else_does() {
        let plain = keys(|_, _| {});
        for other in [
            keys(|_, hosted| hosted.base_url.push('x')),
            keys(|_, hosted| hosted.model.push('x')),
            keys(|spec, _| spec.name = Some("ours".to_owned())),
        ] {
            assert_ne!(other.key("t"), plain.key("t"));
        }
        assert_ne!(plain.key("u"), plain.key("t"));
        for same in [
            keys(|_, hosted| hosted.api_key_env = Some("KEY".to_owned())),
            keys(|_, hosted| hosted.tokens_per_minute = Some(1)),
            keys(|spec, _| spec.max_in_flight = 1),
        ] {
            assert_eq!(same.key("t"), plain.key("t"));
        }
    }

    #[test]
    fn an_embedder_that_is_a_file_has_no_keys() {
        let spec = EmbedderSpec::of_provider(EmbedderProvider::Scripted { vectors: "v".into() });
        assert_eq!(VectorKeys::of(&spec), None);
    }

    #[test]
    fn what_is_no_vector_says_why() {
        for (value, why) in [
            (json!([1.0]), "it has no text `f32_le_base64`"),
            (json!({MEMBER: "?"}), "`f32_le_base64` is no base64: "),
            (json!({MEMBER: STANDARD.encode([0, 0, 128, 63, 1])}), "`f32_le_base64` is cut within a number"),
            (json!({MEMBER: ""}), "the vector is empty"),
            (to_value(&[0.0, 0.0]), "the vector is zero, so that it points nowhere"),
            (to_value(&[f32::NAN]), "the vector holds a number that is not finite in single precision"),
        ] {
            let error = from_value(&value).expect_err(why);
            assert!(error.starts_with(why), "{error}");
        }
        assert_eq!(to_value(&[1.0, -2.5]), json!({MEMBER: "AACAPwAAIMA="}));
    }

    proptest! {
        #[test]
        fn a_vector_comes_back_as_it_was(vector in prop::collection::vec(any::<f32>(), 1..50)) {
            prop_assume!(fault_of(&vector).is_none());
            prop_assert_eq!(from_value(&to_value(&vector)), Ok(vector));
        }
    }
}
