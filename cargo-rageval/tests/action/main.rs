//! The composite action, its shell steps run in order with a fake GitHub around them: no network, a `gh` that writes down what it is asked.
//!
//! Only what GitHub does itself is imitated: inputs, step outputs and the few expressions that `action.yml` uses. An expression that this
//! reader does not know fails the test, so that the action can't outgrow it unseen.
#![cfg(unix)]

mod expression;
mod github;
mod scripts;
mod whole;
