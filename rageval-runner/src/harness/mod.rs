//! Golden cases as tests: the trials, what they wait for, and how the process ends.
