//! What a conversion could not take over, named: nothing is dropped silently.

use rageval_runner::{
    model::Place,
    report::console::text::{shortened, visible},
};
use serde_json::{Value, json};

/// Most columns of a reason, which may quote a whole answer; JSON has it whole.
const WIDEST: usize = 160;

/// What became of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is not in the output.
    Lost,
    /// It is there and says something else.
    Changed,
}

impl Fate {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Changed => "changed",
        }
    }
}

/// One field of one case that did not arrive as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) fate: Fate,
    /// The id of the case in the output; `None` where it is of the set as a whole, or no case came of it.
    pub(crate) case: Option<String>,
    /// The field, as the format that it was read from calls it.
    pub(crate) field: String,
    pub(crate) why: String,
    /// Where it stands in the input.
    pub(crate) place: Option<Place>,
}

/// All that a conversion has to say of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) losses: Vec<Loss>,
    /// What was made or taken for granted, and costs nothing.
    pub(crate) notices: Vec<String>,
}

/// The case that a loss is of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whose<'a> {
    pub(crate) id: &'a str,
    pub(crate) place: &'a Place,
}

impl Told {
    /// A field of a case that is not in the output.
    pub(crate) fn lost(&mut self, whose: Whose<'_>, field: impl Into<String>, why: impl Into<String>) {
        self.of_case(Fate::Lost, whose, field.into(), why.into());
    }

    /// A field of a case that says something else in the output.
    pub(crate) fn changed(&mut self, whose: Whose<'_>, field: impl Into<String>, why: impl Into<String>) {
        self.of_case(Fate::Changed, whose, field.into(), why.into());
    }

    fn of_case(&mut self, fate: Fate, whose: Whose<'_>, field: String, why: String) {
        let place = Some(whose.place.clone());
        self.losses.push(Loss { fate, case: Some(whose.id.to_owned()), field, why, place });
    }

    /// Tells once what every case lost by the same place: what stands under a field, and in each case.
    pub(crate) fn once(&mut self, is_shared: impl Fn(&Loss) -> bool) {
        let mut told: Vec<Loss> = Vec::new();
        for loss in std::mem::take(&mut self.losses) {
            let shared = if is_shared(&loss) { Loss { case: None, ..loss } } else { loss };
            if shared.case.is_some() || !told.contains(&shared) {
                told.push(shared);
            }
        }
        self.losses = told;
    }

    /// A part of a file that became no case.
    pub(crate) fn lost_at(&mut self, place: &Place, field: impl Into<String>, why: impl Into<String>) {
        let place = Some(place.clone());
        self.losses.push(Loss { fate: Fate::Lost, case: None, field: field.into(), why: why.into(), place });
    }

    /// Something of the set as a whole that is not in the output.
    pub(crate) fn lost_of_set(&mut self, field: impl Into<String>, why: impl Into<String>) {
        self.losses.push(Loss { fate: Fate::Lost, case: None, field: field.into(), why: why.into(), place: None });
    }

    /// Something worth knowing that lost nothing, told once.
    pub(crate) fn notice(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }

    /// One line a loss, then one a notice.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for loss in &self.losses {
            let place = loss.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            let case = loss.case.as_ref().map(|id| format!("{id}: ")).unwrap_or_default();
            let why = shortened(&loss.why, WIDEST);
            let line = format!("{place}{}: {case}{}: {why}", loss.fate.as_str(), loss.field);
            text.push_str(&visible(&line));
            text.push('\n');
        }
        for notice in &self.notices {
            text.push_str(&["notice: ", &visible(notice), "\n"].concat());
        }
        text
    }

    /// The same for programs.
    pub(crate) fn as_json(&self) -> Value {
        let losses: Vec<Value> = self
            .losses
            .iter()
            .map(|loss| {
                let place = loss.place.as_ref();
                json!({
                    "fate": loss.fate.as_str(), "case": loss.case, "field": loss.field, "why": loss.why,
                    "file": place.map(|place| &place.file), "line": place.map(|place| place.line),
                })
            })
            .collect();
        json!({"losses": losses, "notices": self.notices})
    }
}
