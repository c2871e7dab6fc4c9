//! Reads what a person decides: one key each at a terminal, one line each elsewhere.

use std::io::{self, BufRead, IsTerminal, Write};

use crossterm::{
    event::{self, Event, KeyCode, KeyEventKind, KeyModifiers},
    terminal,
};

/// What was typed: a key or the word that it stands for, and the rest of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typed {
    pub(super) word: String,
    pub(super) rest: String,
}

/// Where it is typed.
pub(super) enum Keys {
    /// A terminal: a key takes effect at once.
    Terminal,
    /// Anything else, and what reads screens aloud: lines.
    Lines,
}

impl Keys {
    /// A terminal's keys, unless lines are wanted or there is no terminal.
    pub(super) fn new(wants_lines: bool) -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        if is_terminal && !wants_lines { Self::Terminal } else { Self::Lines }
    }

    /// The next thing typed; `None` at the end of the input and on Ctrl-C.
    pub(super) fn next(&self) -> io::Result<Option<Typed>> {
        match self {
            Self::Terminal => key(),
            Self::Lines => {
                let typed = |line: String| {
                    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
                    Typed { word: word.to_lowercase(), rest: rest.trim().to_owned() }
                };
                Ok(line()?.map(typed))
            }
        }
    }

    /// A line of text, such as a note; `None` at the end of the input.
    pub(super) fn text(&self, prompt: &str) -> io::Result<Option<String>> {
        let mut out = crate::out::stdout();
        write!(out, "{prompt}")?;
        out.flush()?;
        line()
    }
}

fn line() -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    if io::stdin().lock().read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

/// The terminal as it is only while a key is waited for, so that whatever ends the program leaves it as it was.
struct Raw;

impl Raw {
    fn enter() -> io::Result<Self> {
        terminal::enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // There is nobody left to tell.
        let _ = terminal::disable_raw_mode();
    }
}

fn key() -> io::Result<Option<Typed>> {
    let _raw = Raw::enter()?;
    loop {
        let Event::Key(key) = event::read()? else { continue };
        if key.kind != KeyEventKind::Press {
            continue;
        }
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c' | 'd') if with_control => return Ok(None),
            KeyCode::Char(c) if !with_control => {
                return Ok(Some(Typed { word: c.to_lowercase().collect(), rest: String::new() }));
            }
            KeyCode::Esc => return Ok(None),
            _ => {}
        }
    }
}
