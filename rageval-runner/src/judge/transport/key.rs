//! The headers of a hosted model, one of which may hold its key.

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::system::http::secret::Secrets;

/// The headers of every request. No `Debug`, on purpose: one of them may hold the key.
pub(crate) struct Headers {
    /// The key of the policy that the model stands under: `judge` or `embedder`.
    whose: &'static str,
    all: HeaderMap,
    secrets: Secrets,
    missing: Option<String>,
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// The key alone under this name.
    Named(&'static str),
}

impl Headers {
    /// The key is looked up now and needed only when something is asked. `whose` is the key of the policy that the model stands under;
    /// `fixed` are headers of the interface.
    pub(crate) fn new(
        whose: &'static str,
        variable: Option<&str>,
        header: KeyHeader,
        fixed: &[(&'static str, &'static str)],
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let mut all = HeaderMap::new();
        all.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(ACCEPT, HeaderValue::from_static("application/json"));
        for (name, value) in fixed {
            all.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let mut secrets = Secrets::default();
        let mut missing = None;
        if let Some(variable) = variable {
            // A line end behind a key comes from a file that it was read from.
            let key = env(variable).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
            let (name, value) = match header {
                KeyHeader::Bearer => ("authorization", key.as_ref().map(|key| format!("Bearer {key}"))),
                KeyHeader::Named(name) => (name, key.clone()),
            };
            match (key, value.map(|value| HeaderValue::from_str(&value))) {
                (Some(key), Some(Ok(mut value))) => {
                    secrets.add(variable, &key);
                    value.set_sensitive(true);
                    all.insert(HeaderName::from_static(name), value);
                }
                (Some(_), _) => {
                    missing = Some(format!("the variable {variable} (`{whose}.api_key_env`) holds what no header can"));
                }
                (None, _) => {
                    missing = Some(format!(
                        "the variable {variable} of the environment (`{whose}.api_key_env`) is missing or empty; set it to the {whose}'s key"
                    ));
                }
            }
        }
        Self { whose, all, secrets, missing }
    }

    /// The key of the policy that the model stands under.
    pub(super) fn whose(&self) -> &'static str {
        self.whose
    }

    /// Why nothing can be asked.
    pub(super) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    pub(super) fn all(&self) -> HeaderMap {
        self.all.clone()
    }

    /// The text without the key.
    pub(super) fn hide(&self, text: &str) -> String {
        self.secrets.hide(text)
    }

    /// Whether there is a key that a reply could repeat.
    pub(super) fn holds_key(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// The variable whose value stands in a reply.
    pub(super) fn repeated_in(&self, bytes: &[u8]) -> Option<&str> {
        self.secrets.repeated_in(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_needed_only_where_one_is_named() {
        let env = |name: &str| (name == "KEY").then(|| " sk-1234567890\n".to_owned());
        let of = |variable, header| Headers::new("judge", variable, header, &[], &env);
        assert_eq!(of(None, KeyHeader::Bearer).missing(), None);
        assert!(!of(None, KeyHeader::Bearer).all().contains_key("authorization"));
        let bearer = of(Some("KEY"), KeyHeader::Bearer);
        assert_eq!(bearer.all().get("authorization").map(HeaderValue::as_bytes), Some(&b"Bearer sk-1234567890"[..]));
        assert_eq!(bearer.hide("is sk-1234567890 wrong?"), "is ${KEY} wrong?");
        let named = of(Some("KEY"), KeyHeader::Named("x-api-key"));
        assert_eq!(named.all().get("x-api-key").map(HeaderValue::is_sensitive), Some(true));
        let missing = of(Some("OTHER"), KeyHeader::Bearer);
        let why = missing.missing().expect("a reason");
        assert!(why.starts_with("the variable OTHER of the environment"), "{why}");
    }
}
