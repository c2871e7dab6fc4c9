//! Text metrics: what the answer says, by rule.
