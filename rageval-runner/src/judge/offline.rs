//! The `offline` judge: a screen for evidence by text, without a model.
