//! The vocabulary: plain data that every other module speaks in, without I/O.

pub mod background;
pub mod case;
pub mod claim;
pub mod decision;
pub mod described;
pub mod ids;
pub mod label;
pub mod outcome;
pub mod readings;
pub mod record;
pub mod repeats;
pub mod run;
pub mod sample;
pub mod score;
pub mod scores;
pub mod spending;
pub mod transcript;
mod whole;

pub use case::{CaseBar, CasePart, Expectation, GoldenCase, GoldenSet, Judgement, KnownFailure, Language, Place};
pub use claim::{Claim, Evidence, Verdict};
pub use ids::{CaseId, DocId, IdError, MetricKey, MetricKeyError};
pub use label::{Human, Item, ItemTexts, Label};
pub use outcome::{Detail, Outcome, Ranked, Unmeasured};
pub use readings::{Confirmation, Heard, Readings, SecondReading};
pub use record::{Record, Records, Taken};
pub use repeats::{Reduced, Reduction, Repeat, Repeated, Repeats};
pub use sample::{Answer, RetrievedContext, Sample, Usage};
pub use score::{Score, UnitInterval};
pub use scores::{CaseScores, Scores};
pub use spending::{Budget, Price, Spending};
pub use transcript::{
    AskedOf, EmbedRequest, Ending, Exchange, Field, JudgeRequest, Reply, ReplySource, Request, SCORE_PROBABILITIES,
    Shown, Transcript,
};
