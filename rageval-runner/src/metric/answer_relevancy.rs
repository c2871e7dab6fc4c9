//! The metric `answer_relevancy`.
