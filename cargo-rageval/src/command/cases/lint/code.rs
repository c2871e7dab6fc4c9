//! What `cases lint` may find: a closed list of codes.

use clap::ValueEnum;
use rageval_runner::model::Place;

/// A kind of finding. Its name is stable: scripts and workflows switch it off or deny it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(crate) enum Code {
    /// An answerable case with nothing to measure: no documents, reference, contexts or bars
    NothingExpected,
    /// Documents are named, and none has a grade above 0
    IrrelevantOnly,
    /// No reference context says what the reference answer says, by its words
    UnsupportedReference,
    /// The reference declines where the case should be answered, or answers where it should be declined
    RefusalReference,
    /// The language tag names another script than the question has
    LanguageScript,
    /// A question that starts or ends with blanks
    OuterBlanks,
    /// Characters that nobody sees, in a question, an id or a word
    InvisibleCharacters,
    /// Two cases with one question that expect different things
    SameQuestion,
    /// Questions that nearly agree in their words
    NearDuplicate,
    /// Ids that differ in letter case only
    IdsDifferInCase,
    /// Documents, types, difficulties or tags that differ in letter case only
    Spelling,
    /// Cases without `type` where others have one
    MissingType,
    /// A slice of the policy with fewer cases than its `min_cases`
    ThinSlice,
    /// A known failure whose reason names a day long past
    OldKnownFailure,
    /// A question that also stands in the labels for calibration
    LabelledQuestion,
}

impl Code {
    /// Its name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// One finding at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) place: Place,
    /// The case it is about, or the first of them.
    pub(crate) case: String,
    pub(crate) text: String,
}
