//! How reports are tested.
