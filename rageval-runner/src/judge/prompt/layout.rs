//! What the user part of a prompt comes to for a set of fields: the texts of its template, and the places of the blocks between them.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::{fence::Bodies, own::marked, sheet::NOT_ONCE};

/// The user part of a template that looks at nothing but which fields there are, for one list of these.
#[derive(Debug, PartialEq)]
pub(super) struct Layout(Vec<Piece>);

#[derive(Debug, PartialEq)]
enum Piece {
    /// What the template says.
    Text(String),
    /// The block of a field, by its place in the request.
    Block(usize),
}

impl Layout {
    /// The layout for these fields, found by filling the template in with marks.
    ///
    /// # Errors
    /// Why it can't be filled in; it does not show every field once.
    pub(super) fn of(
        fields: &[&str],
        fill: impl FnOnce(&BTreeMap<&str, String>) -> Result<String, String>,
    ) -> Result<Self, String> {
        let marks: BTreeMap<&str, String> = fields.iter().map(|name| (*name, marked(name))).collect();
        let filled = fill(&marks)?;
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (place, name) in fields.iter().enumerate() {
            let mut at = filled.match_indices(&marks[name]).map(|(at, _)| at);
            match (at.next(), at.next()) {
                (Some(at), None) => found.push((at, place)),
                (_, _) => return Err(NOT_ONCE.to_owned()),
            }
        }
        found.sort_unstable();
        let mut pieces = Vec::new();
        let mut rest = 0;
        for (at, place) in found {
            pieces.push(Piece::Text(filled[rest..at].to_owned()));
            pieces.push(Piece::Block(place));
            rest = at + marks[fields[place]].len();
        }
        pieces.push(Piece::Text(filled[rest..].to_owned()));
        Ok(Self(pieces))
    }

    /// The user part with the blocks of a request of these fields.
    pub(super) fn user(&self, bodies: &Bodies<'_>, nonce: &str) -> String {
        let texts: usize = self.0.iter().map(Piece::bytes).sum();
        let mut user = String::with_capacity(texts + bodies.bytes());
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => user.push_str(text),
                Piece::Block(place) => bodies.write_block(*place, nonce, &mut user),
            }
        }
        user
    }
}

impl Piece {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Block(_) => 0,
        }
    }
}

/// The layouts of one template that were needed so far, by the fields of the request in its order.
#[derive(Debug, Default)]
pub(super) struct Layouts(RwLock<Vec<(Vec<String>, Arc<Layout>)>>);

impl Layouts {
    /// The layout for these fields, made where it is needed for the first time.
    pub(super) fn get(
        &self,
        fields: &[&str],
        make: impl FnOnce() -> Result<Layout, String>,
    ) -> Result<Arc<Layout>, String> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, layout)) = known.iter().find(|(names, _)| names == fields) {
            return Ok(Arc::clone(layout));
        }
        drop(known);
        let layout = Arc::new(make()?);
        let names = fields.iter().map(|name| (*name).to_owned()).collect();
        // Where another thread was first, both are the same.
        self.0.write().unwrap_or_else(PoisonError::into_inner).push((names, Arc::clone(&layout)));
        Ok(layout)
    }
}
