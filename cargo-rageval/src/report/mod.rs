//! Reports of a run, each made from the run file alone: one file a format, and one line in the list.
//!
//! Which command decides what, [`view::View`] says once: every report and every exit code shows the same conclusion.

pub(crate) mod view;
