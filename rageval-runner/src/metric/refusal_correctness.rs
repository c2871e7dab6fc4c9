//! The metric `refusal_correctness`.
