//! What may stand under a key: the tables that reading, "did you mean", the documentation and the JSON schemas all come from.

/// One key of a map.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// Other names that are read as the same.
    pub(crate) aliases: &'static [&'static str],
    /// What may stand under it.
    pub(crate) shape: Shape,
    /// Whether it may be left out.
    pub(crate) need: Need,
    /// What it says, in one sentence.
    pub(crate) about: &'static str,
}

/// Whether a key may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
}

impl Key {
    /// A key that must be there.
    pub(crate) const fn required(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, aliases: &[], shape, need: Need::Required, about }
    }

    /// A key that may be left out.
    pub(crate) const fn optional(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, aliases: &[], shape, need: Need::Optional, about }
    }

    /// The same with other names.
    pub(crate) const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Every name that it is read under.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// What may stand under a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// A text that is not blank.
    Text,
    /// A text that may be empty.
    AnyText,
    /// A text, or a number or `true` and `false` that is taken as the text it was written as.
    Word,
    /// `true` or `false`.
    Flag,
    /// A number from 0 to 1.
    Unit,
    /// Any finite number.
    Number,
    /// A whole number of at least this.
    Count(usize),
    /// `60s`, `500ms`, `2m`.
    Duration,
    /// A day: `2026-12-31`.
    Date,
    /// How repeats are reduced: one of a few words, or `pass@K` and `pass^K`.
    Reduction,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A JSON pointer.
    Pointer,
    /// Anything.
    Any,
    /// A list of these.
    List(&'static Shape),
    /// One of these, or a list of them.
    OneOrMany(&'static Shape),
    /// One of these, or a map with these keys.
    OrMap(&'static Shape, &'static [Key]),
    /// A map with these keys.
    Map(&'static [Key]),
    /// A map from any name to these.
    MapOf(&'static Shape),
    /// A map whose keys depend on the word under the first of its keys.
    Variants(&'static str, &'static [Variant]),
    /// The `metrics` of the policy.
    Metrics,
    /// The `thresholds` of a case.
    Bars,
}

/// The keys of a map for one word under its deciding key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Variant {
    /// The word.
    pub(crate) name: &'static str,
    /// Keys beside the deciding one.
    pub(crate) keys: &'static [Key],
}
