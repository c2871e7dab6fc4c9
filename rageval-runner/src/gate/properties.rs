//! Properties of all decisions.
