//! Standard output. Its reader may have had enough: what is no longer read is dropped, and the command ends as it would have ended.

use std::io::{self, IsTerminal as _, StdoutLock, Write};

use anstream::{AutoStream, ColorChoice};

/// Standard output, whole or as far as somebody reads it.
pub(crate) struct Out(StdoutLock<'static>);

/// Standard output.
pub(crate) fn stdout() -> Out {
    Out(io::stdout().lock())
}

/// Standard output, with colours where it is a terminal and nothing in the environment speaks against them.
pub(crate) fn coloured() -> AutoStream<Box<dyn Write>> {
    let choice = AutoStream::choice(&io::stdout());
    // A terminal of Windows that needs calls for colours gets none through a box.
    let choice = if cfg!(windows) && io::stdout().is_terminal() { ColorChoice::Never } else { choice };
    AutoStream::new(Box::new(stdout()), choice)
}

/// What could not be written since nobody reads counts as written: a red run whose text goes into `head` is red.
fn unread<T>(result: io::Result<T>, as_if: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(as_if),
        result => result,
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unread(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unread(self.0.flush(), ())
    }
}
