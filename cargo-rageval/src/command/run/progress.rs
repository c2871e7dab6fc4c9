//! How far a run is: a bar on a terminal, few plain lines elsewhere.

use std::{
    fmt,
    io::IsTerminal as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use rageval_runner::{
    harness::{Event, Teller},
    model::Spending,
    report::console::spending::{money, thousands},
};

use crate::exit::tell;

/// Plain lines come at each tenth of the cases, and not more often than this.
const LEAST_BETWEEN: Duration = Duration::from_secs(2);

/// The bar is drawn anew so often, so that the time left moves also while an answer is awaited.
const TICK: Duration = Duration::from_millis(500);

const TEMPLATE: &str = "{bar:24} {pos}/{len} cases  {pace}  {msg}";

/// How far a run is, and who sees it. Clones share it.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<State>>);

struct State {
    screen: Screen,
    counted: Counted,
    /// Apart, since the bar looks at it while it is drawn.
    speed: Arc<Mutex<Speed>>,
    began: Instant,
    told: Instant,
    /// Cases that were done when a plain line was printed last.
    told_at: usize,
}

/// What the speed of a run is reckoned from: cases of an earlier run tell nothing of it.
#[derive(Debug, Clone, Copy)]
struct Speed {
    began: Instant,
    done: usize,
}

enum Screen {
    Bar(ProgressBar),
    Lines,
}

/// What is counted of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counted {
    cases: usize,
    /// Of an earlier run; nothing is told of their speed.
    stored: usize,
    done: usize,
    unmeasured: usize,
    again: usize,
    spent: Option<Spending>,
}

impl Progress {
    /// A bar where standard error is a terminal and this is not CI.
    pub(crate) fn new(is_ci: bool) -> Self {
        let now = Instant::now();
        let speed = Arc::new(Mutex::new(Speed { began: now, done: 0 }));
        let screen = if std::io::stderr().is_terminal() && !is_ci {
            let of_bar = Arc::clone(&speed);
            let pace = move |state: &ProgressState, text: &mut dyn fmt::Write| {
                let Speed { began, done } = *of_bar.lock().unwrap_or_else(PoisonError::into_inner);
                let left = state.len().map(|cases| cases.saturating_sub(state.pos()));
                let _ = text.write_str(&pace(left, done, began.elapsed()));
            };
            let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
            let style = style.with_key("pace", pace);
            Screen::Bar(ProgressBar::no_length().with_style(style.progress_chars("=> ")))
        } else {
            Screen::Lines
        };
        let counted = Counted::default();
        Self(Arc::new(Mutex::new(State { screen, counted, speed, began: now, told: now, told_at: 0 })))
    }

    /// Who is to be told.
    pub(crate) fn teller(&self) -> Teller {
        let progress = self.clone();
        Arc::new(move |event| progress.0.lock().unwrap_or_else(PoisonError::into_inner).take(&event))
    }

    /// Takes the bar away; what was told in lines stays.
    pub(crate) fn clear(&self) {
        match &self.0.lock().unwrap_or_else(PoisonError::into_inner).screen {
            Screen::Bar(bar) => bar.finish_and_clear(),
            Screen::Lines => {}
        }
    }

    /// Cases that are done, and all of the run; `None` before it began.
    pub(crate) fn cases(&self) -> Option<(usize, usize)> {
        let Counted { cases, stored, done, .. } = self.0.lock().unwrap_or_else(PoisonError::into_inner).counted;
        (cases > 0).then_some((stored + done, cases))
    }
}

impl State {
    fn take(&mut self, event: &Event) {
        let is_new_case = self.counted.take(event);
        match &self.screen {
            Screen::Bar(bar) => {
                let Counted { cases, stored, done, .. } = self.counted;
                self.speed.lock().unwrap_or_else(PoisonError::into_inner).done = done;
                if bar.length().is_none() {
                    self.speed.lock().unwrap_or_else(PoisonError::into_inner).began = Instant::now();
                    bar.set_length(cases as u64);
                    bar.enable_steady_tick(TICK);
                }
                bar.set_message(self.counted.notes().join("  "));
                bar.set_position((stored + done) as u64);
            }
            Screen::Lines => {
                let elapsed = self.began.elapsed();
                if is_new_case && self.counted.is_due(self.told_at) && self.told.elapsed() >= LEAST_BETWEEN {
                    tell(&self.counted.line(elapsed));
                    self.told = Instant::now();
                    self.told_at = self.counted.done;
                }
            }
        }
    }
}

impl Counted {
    /// Counts what is told; returns whether it is a case that is done.
    fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::Started { cases, stored } => (self.cases, self.stored) = (*cases, *stored),
            Event::CaseDone { is_unmeasured, spent, .. } => {
                self.done += 1;
                self.unmeasured += usize::from(*is_unmeasured);
                self.spent = spent.or(self.spent);
                return true;
            }
            Event::ReadingAgain { .. } => self.again += 1,
            Event::Deciding => {}
        }
        false
    }

    /// Whether another tenth of the cases is done since so many were.
    fn is_due(&self, before: usize) -> bool {
        let tenth = |done: usize| (self.stored + done) * 10 / self.cases.max(1);
        tenth(self.done) > tenth(before)
    }

    /// `30 of 100 cases, 2.0 a second, about 35 s left, 120 requests, 0.0040 USD`.
    fn line(&self, elapsed: Duration) -> String {
        let Self { cases, stored, done, .. } = *self;
        let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
        let left = cases.saturating_sub(stored + done) as f64 / rate.max(0.001);
        let mut parts = vec![format!("{} of {cases} cases", stored + done), format!("{rate:.1} a second")];
        parts.push(format!("about {} left", span(left)));
        parts.extend(self.notes());
        parts.join(", ")
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(spent) = &self.spent {
            notes.push(format!("{} requests", thousands(spent.requests)));
            notes.extend(spent.usd.map(money));
        }
        if self.again > 0 {
            notes.push(format!("{} read again", self.again));
        }
        if self.unmeasured > 0 {
            notes.push(format!("{} unmeasured", self.unmeasured));
        }
        notes
    }
}

/// Rate and time left as the bar shows them: neither is known before the first answer, and after the last there is no case to wait for.
fn pace(left: Option<u64>, done: usize, elapsed: Duration) -> String {
    match left {
        Some(0) => "all asked".to_owned(),
        Some(left) if done > 0 => {
            let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
            format!("{rate:.1} a second  {} left", span(left as f64 / rate))
        }
        Some(_) | None => "waiting for the first answer".to_owned(),
    }
}

/// A span of time in one unit.
fn span(seconds: f64) -> String {
    if seconds < 120.0 { format!("{:.0} s", seconds.ceil()) } else { format!("{:.0} min", (seconds / 60.0).ceil()) }
}

#[cfg(test)]
mod tests {
    use rageval_runner::model::CaseId;

    use super::*;

    fn counted(stored: usize, done: usize) -> Counted {
        let mut counted = Counted::default();
        counted.take(&Event::Started { cases: 100, stored });
        for at in 0..done {
            let spent =
                Spending { requests: 2 * (at as u64 + 1), usd: Some(0.001 * (at + 1) as f64), ..Spending::default() };
            let case = CaseId::new(format!("case-{at}")).expect("an id");
            counted.take(&Event::CaseDone { case, is_unmeasured: at == 0, spent: Some(spent) });
        }
        counted
    }

    #[test]
    fn a_line_says_rate_time_left_and_cost() {
        let line = counted(0, 20).line(Duration::from_secs(10));
        assert_eq!(line, "20 of 100 cases, 2.0 a second, about 40 s left, 40 requests, 0.0200 USD, 1 unmeasured");
    }

    #[test]
    fn stored_cases_tell_nothing_of_the_speed() {
        let line = counted(80, 10).line(Duration::from_secs(10));
        assert!(line.starts_with("90 of 100 cases, 1.0 a second, about 10 s left"), "{line}");
    }

    #[test]
    fn a_line_comes_with_each_tenth() {
        let due: Vec<usize> = (1..=20).filter(|done| counted(5, *done).is_due(done - 1)).collect();
        assert_eq!(due, [5, 15]);
    }

    #[test]
    fn the_bar_states_no_rate_before_an_answer_and_no_time_after_the_last() {
        let elapsed = Duration::from_secs(8);
        assert_eq!(pace(Some(30), 0, elapsed), "waiting for the first answer");
        assert_eq!(pace(Some(20), 10, elapsed), "1.2 a second  16 s left");
        assert_eq!(pace(Some(0), 10, elapsed), "all asked");
    }

    #[test]
    fn long_spans_are_minutes() {
        assert_eq!([span(0.2), span(119.0), span(121.0)], ["1 s", "119 s", "3 min"]);
    }
}
