//! Matches the lines of one process to the questions that wait for them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tokio::sync::oneshot;

use crate::{
    model::Unmeasured,
    system::{
        cause,
        excerpt::{self, excerpt},
        wire::Object,
    },
};

/// Lines that nobody can be blamed for, of which the text is kept; the rest is counted.
const KEPT_STRAYS: usize = 5;

/// Lines whose owner is still looked for; more than that is a flood, and is only counted.
const MAX_DOUBTS: usize = 100;

/// What came of a question: the line that answers it, which is a JSON object.
pub(super) type Reply = Result<String, Unmeasured>;

/// Where the reply to one question comes out.
pub(super) type Receiver = oneshot::Receiver<Reply>;

/// The ticket of a question, and where its reply comes out.
pub(super) type Entered = (u64, Receiver);

/// The questions that one process has been sent and not answered yet.
///
/// A line that is no reply to any of them is a fault of one: a reply that is cut, that has a wrong id, that is mixed with a log. Which one
/// is not known while several wait. So each question that waited when the line came is in doubt, the doubt goes from those that are
/// answered, and whoever is left last is unmeasured with that line as the reason. The others are not harmed, none waits for a reply that
/// will not come, and a run says the same whether one question is asked at a time or many.
#[derive(Debug, Default)]
pub(super) struct WaitingRoom {
    /// In the order they came.
    waiting: VecDeque<Waiting>,
    doubts: Vec<Doubt>,
    /// Ids that were answered, to tell a second reply from one to nobody.
    answered: BTreeSet<String>,
    /// Replies that may still come to questions that nobody waits for.
    late: BTreeMap<String, usize>,
    /// Lines that nobody could be blamed for.
    strays: Strays,
    next_ticket: u64,
    /// Replies so far, to see whether the process still works.
    replies: u64,
    /// Why the process takes no more questions.
    closed: Option<Unmeasured>,
}

#[derive(Debug)]
struct Waiting {
    ticket: u64,
    id: String,
    /// [`WaitingRoom::replies`] when it came.
    replies_before: u64,
    reply: oneshot::Sender<Reply>,
}

#[derive(Debug)]
struct Doubt {
    what: String,
    suspects: BTreeSet<u64>,
}

/// Lines that belong to no question.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Strays {
    /// How many.
    pub(super) count: usize,
    /// What was wrong with the first ones.
    pub(super) first: Vec<String>,
}

impl Strays {
    fn add(&mut self, what: String) {
        self.count += 1;
        if self.first.len() < KEPT_STRAYS {
            self.first.push(what);
        }
    }

    /// Adds those of another process.
    pub(super) fn append(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(KEPT_STRAYS);
    }
}

/// What leaving says of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It has answered others meanwhile.
    Working,
    /// It has answered nobody since the question came.
    Hung,
    /// The question was answered already, or the process has ended.
    Done,
}

impl WaitingRoom {
    /// The room of a new process, in which its first question waits.
    pub(super) fn opened_for(first: &str) -> (Self, Entered) {
        let mut room = Self::default();
        let entered = room.seat(first);
        (room, entered)
    }

    /// Takes a question; `None` when the process has ended.
    pub(super) fn enter(&mut self, id: &str) -> Option<Entered> {
        self.closed.is_none().then(|| self.seat(id))
    }

    fn seat(&mut self, id: &str) -> Entered {
        let (sender, receiver) = oneshot::channel();
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let replies_before = self.replies;
        self.waiting.push_back(Waiting { ticket, id: id.to_owned(), replies_before, reply: sender });
        (ticket, receiver)
    }

    /// Nobody waits for this question any more: it ran into its time limit.
    pub(super) fn leave(&mut self, ticket: u64) -> Left {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.ticket == ticket) else { return Left::Done };
        let Some(left) = self.waiting.remove(at) else { return Left::Done };
        let hung = left.replies_before == self.replies;
        *self.late.entry(left.id).or_default() += 1;
        // A line in doubt is most likely the reply that this question waited for.
        let (settled, open) =
            std::mem::take(&mut self.doubts).into_iter().partition(|doubt| doubt.suspects.contains(&ticket));
        self.doubts = open;
        let settled: Vec<Doubt> = settled;
        for doubt in settled {
            self.strays.add(doubt.what);
        }
        if hung { Left::Hung } else { Left::Working }
    }

    /// Takes one line of the process.
    pub(super) fn line(&mut self, bytes: &[u8]) {
        let shown = || excerpt(&String::from_utf8_lossy(bytes), excerpt::REPLY);
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.doubt(format!("wrote a line that is not UTF-8: {}", shown()), self.everybody());
        };
        if text.trim().is_empty() {
            return;
        }
        let object = match Object::parse(text) {
            Ok(object) => object,
            Err(error) => {
                let what = format!("wrote a line that is no JSON object ({}): {}", error.why, shown());
                return self.doubt(what, self.named_in(text));
            }
        };
        match object.id() {
            Err(why) => {
                self.doubt(format!("wrote a reply whose id can't be read ({why}): {}", shown()), self.everybody());
            }
            Ok(None) => self.doubt(format!("wrote a reply without `id`: {}", shown()), self.everybody()),
            Ok(Some(id)) => match self.waiting.iter().find(|waiting| waiting.id == id).map(|waiting| waiting.ticket) {
                Some(ticket) => self.deliver(ticket, Ok(text.to_owned())),
                None => self.reply_to_nobody(&id),
            },
        }
    }

    /// Ends everything: each question that waits gets the fault, and none is taken any more.
    pub(super) fn close(&mut self, fault: &Unmeasured) {
        self.closed.get_or_insert_with(|| fault.clone());
        for waiting in self.waiting.drain(..) {
            // Whoever dropped the receiver does not want to know.
            let _ = waiting.reply.send(Err(fault.clone()));
        }
        for doubt in std::mem::take(&mut self.doubts) {
            self.strays.add(doubt.what);
        }
    }

    /// Why the process takes no more questions.
    pub(super) fn closed(&self) -> Option<&Unmeasured> {
        self.closed.as_ref()
    }

    /// Replies so far.
    pub(super) fn replies(&self) -> u64 {
        self.replies
    }

    /// Lines that nobody could be blamed for.
    pub(super) fn strays(&self) -> &Strays {
        &self.strays
    }

    fn reply_to_nobody(&mut self, id: &str) {
        if let Some(late) = self.late.get_mut(id).filter(|late| **late > 0) {
            *late -= 1;
            self.replies += 1;
            return;
        }
        let id_shown = excerpt(id, 60);
        let what = if self.answered.contains(id) {
            format!("wrote a second reply to `{id_shown}`; a reply is one line, and whole")
        } else {
            format!("wrote a reply to `{id_shown}`, which was not asked")
        };
        self.doubt(what, self.everybody());
    }

    fn deliver(&mut self, ticket: u64, reply: Reply) {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.ticket == ticket) else { return };
        let Some(waiting) = self.waiting.remove(at) else { return };
        self.replies += 1;
        self.answered.insert(waiting.id);
        // Whoever dropped the receiver does not want to know.
        let _ = waiting.reply.send(reply);
        for doubt in &mut self.doubts {
            doubt.suspects.remove(&ticket);
        }
        self.settle();
    }

    fn everybody(&self) -> BTreeSet<u64> {
        self.waiting.iter().map(|waiting| waiting.ticket).collect()
    }

    /// The one question whose id stands in the text as JSON writes it, since a reply that is cut still names its question; else everybody.
    fn named_in(&self, text: &str) -> BTreeSet<u64> {
        let quoted = |id: &str| serde_json::Value::from(id).to_string();
        let named: Vec<_> = self.waiting.iter().filter(|w| text.contains(&quoted(&w.id))).map(|w| w.ticket).collect();
        match named[..] {
            [one] => BTreeSet::from([one]),
            _ => self.everybody(),
        }
    }

    /// A line that is no reply to a question that waits.
    fn doubt(&mut self, what: String, suspects: BTreeSet<u64>) {
        if suspects.is_empty() || self.doubts.len() >= MAX_DOUBTS {
            self.strays.add(what);
            return;
        }
        self.doubts.push(Doubt { what, suspects });
        self.settle();
    }

    /// Blames each suspect that is the only one left.
    fn settle(&mut self) {
        while let Some(at) = self.doubts.iter().position(|doubt| doubt.suspects.len() <= 1) {
            let doubt = self.doubts.swap_remove(at);
            let blamed =
                doubt.suspects.first().and_then(|ticket| self.waiting.iter().position(|w| w.ticket == *ticket));
            let Some(waiting) = blamed.and_then(|at| self.waiting.remove(at)) else {
                self.strays.add(doubt.what);
                continue;
            };
            for other in &mut self.doubts {
                other.suspects.remove(&waiting.ticket);
            }
            *self.late.entry(waiting.id).or_default() += 1;
            // Whoever dropped the receiver does not want to know.
            let _ = waiting.reply.send(Err(Unmeasured::new(cause::INVALID, doubt.what)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Asked;

    fn read(line: &str) -> Result<Asked, Unmeasured> {
        crate::system::command::read_answer(line)
    }

    /// A room in which these questions wait, with the end that each of them holds.
    fn room(ids: &[&str]) -> (WaitingRoom, Vec<Entered>) {
        let mut room = WaitingRoom::default();
        let waiting = ids.iter().map(|id| room.enter(id).expect("an open room")).collect();
        (room, waiting)
    }

    /// `=` and the answer; else the cause and why; `?` while it waits.
    fn came(waiting: &mut [Entered]) -> Vec<String> {
        let came = waiting.iter_mut().map(|(_, receiver)| {
            match receiver.try_recv().map(|reply| reply.and_then(|line| read(&line))) {
                Ok(Ok(asked)) => format!("={}", asked.answer.response),
                Ok(Err(fault)) => format!("{}: {}", fault.cause, fault.why),
                Err(_) => "?".to_owned(),
            }
        });
        came.collect()
    }

    #[track_caller]
    fn check(ids: &[&str], lines: &[&str], expected: &[&str], strays: usize) {
        let (mut room, mut waiting) = room(ids);
        for line in lines {
            room.line(line.as_bytes());
        }
        assert_eq!(came(&mut waiting), expected);
        assert_eq!(room.strays().count, strays, "{:?}", room.strays());
    }

    #[test]
    fn replies_may_come_in_any_order() {
        let lines = [r#"{"id": "b", "answer": "B"}"#, "", r#"{"id": "a", "response": "A"}"#];
        check(&["a", "b", "c"], &lines, &["=A", "=B", "?"], 0);
    }

    #[test]
    fn an_unreadable_reply_is_the_fault_of_its_question() {
        check(
            &["a", "b", "c"],
            &[r#"{"id": "a"}"#, r#"{"id": "c", "error": "no index"}"#],
            &[
                "system reply invalid: wrote an unreadable reply: no `response` (or `answer`, `actual_output`)",
                "?",
                "system error: says: no index",
            ],
            0,
        );
    }

    #[test]
    fn a_cut_reply_names_its_question() {
        let why = "system reply invalid: wrote a line that is no JSON object (EOF while parsing a string): {\"id\": \"b\", \"answer\": \"cu";
        check(&["a", "b"], &[r#"{"id": "b", "answer": "cu"#], &["?", why], 0);
    }

    #[test]
    fn a_strange_line_is_the_fault_of_whoever_is_left_without_a_reply() {
        let why = "system reply invalid: wrote a line that is no JSON object (expected value): loading";
        check(&["a"], &["loading"], &[why], 0);
        check(&["a", "b", "c"], &["loading"], &["?", "?", "?"], 0);
        let answers = [r#"{"id": "c", "answer": "C"}"#, r#"{"id": "a", "answer": "A"}"#];
        check(&["a", "b", "c"], &["loading", answers[0], answers[1]], &["=A", why, "=C"], 0);
        check(&["a", "b"], &[answers[1], "loading"], &["=A", why], 0);
        check(&[], &["loading"], &[], 1);
    }

    #[test]
    fn ids_that_nobody_waits_for_are_told_apart() {
        let unknown = "system reply invalid: wrote a reply to `z`, which was not asked";
        check(&["a"], &[r#"{"id": "z", "answer": "Z"}"#], &[unknown], 0);
        // The id of a document is no name of a case.
        let named = r#"{"id": "z", "answer": "Z", "contexts": [{"id": "b"}]}"#;
        check(&["a", "b"], &[named, r#"{"id": "b", "answer": "B"}"#], &[unknown, "=B"], 0);
        let without = "system reply invalid: wrote a reply without `id`: {\"answer\": \"Z\"}";
        check(&["a"], &[r#"{"answer": "Z"}"#], &[without], 0);
        let second = "system reply invalid: wrote a second reply to `a`; a reply is one line, and whole";
        let twice = [r#"{"id": "a", "answer": "A"}"#, r#"{"id": "a", "answer": "A again"}"#];
        check(&["a", "b"], &twice, &["=A", second], 0);
        check(&["a"], &twice, &["=A"], 1);
    }

    #[test]
    fn a_late_reply_harms_nobody() {
        let (mut room, mut waiting) = room(&["a", "b"]);
        assert_eq!(room.leave(waiting[0].0), Left::Hung);
        room.line(br#"{"id": "a", "answer": "A"}"#);
        assert_eq!(came(&mut waiting[1..]), ["?"]);
        assert_eq!(room.leave(waiting[1].0), Left::Working);
        assert_eq!(room.leave(waiting[1].0), Left::Done);
        assert_eq!(room.strays().count, 0);
    }

    #[test]
    fn a_time_out_settles_a_doubt() {
        let (mut room, mut waiting) = room(&["a", "b"]);
        room.line(b"garbled");
        room.leave(waiting[0].0);
        room.line(br#"{"id": "b", "answer": "B"}"#);
        assert_eq!(came(&mut waiting[1..]), ["=B"]);
        assert_eq!(room.strays().first, ["wrote a line that is no JSON object (expected value): garbled"]);
    }

    #[test]
    fn one_question_asked_twice_gets_both_replies_in_order() {
        let lines = [r#"{"id": "a", "answer": "1"}"#, r#"{"id": "a", "answer": "2"}"#];
        check(&["a", "a"], &lines, &["=1", "=2"], 0);
    }

    #[test]
    fn the_end_of_the_process_ends_every_question() {
        let (mut room, mut waiting) = room(&["a", "b"]);
        room.line(br#"{"id": "a", "answer": "A"}"#);
        room.close(&Unmeasured::new(cause::CRASH, "gone"));
        assert_eq!(came(&mut waiting), ["=A", "system crashed: gone"]);
        assert!(room.enter("c").is_none());
        assert_eq!(room.closed().map(|fault| fault.why.as_str()), Some("gone"));
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let (mut room, mut waiting) = room(&["a", "b"]);
        for _ in 0..1000 {
            room.line(b"noise");
        }
        assert_eq!(came(&mut waiting), ["?", "?"]);
        assert_eq!((room.doubts.len(), room.strays().count, room.strays().first.len()), (100, 900, 5));
        room.line(b"{\"id\": \"a\", \"answer\": \"A\"}");
        assert_eq!(
            came(&mut waiting[1..]),
            ["system reply invalid: wrote a line that is no JSON object (expected ident): noise"]
        );
    }
}
