//! Baselines: runs that were accepted and checked in.
