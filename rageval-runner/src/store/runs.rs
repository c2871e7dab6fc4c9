//! Run folders and run files.
