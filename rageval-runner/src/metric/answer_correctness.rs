//! The metric `answer_correctness`.
