//! Panics of user code, kept off the screen and turned into messages.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs user code; a panic comes back as its message and place, without the default trace on the screen.
pub(crate) fn contained<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    let _quiet = quietly();
    panic::catch_unwind(AssertUnwindSafe(code)).map_err(|panic| take_message().unwrap_or_else(|| said(panic.as_ref())))
}

/// What a panic said; one whose payload is no text is said to have no message.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".to_owned())
}

/// While it lives, a panic of this thread prints nothing and its message is kept for [`take_message`].
pub(crate) struct Quiet {
    before: bool,
}

/// Makes panics of this thread quiet until the guard is dropped.
pub(crate) fn quietly() -> Quiet {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
                return;
            }
            let text = said(info.payload());
            let message = match info.location() {
                Some(place) => format!("{text} (at {}:{})", place.file(), place.line()),
                None => text,
            };
            MESSAGE.set(Some(message));
        }));
    });
    MESSAGE.set(None);
    Quiet { before: QUIET.replace(true) }
}

/// The message of the last quiet panic of this thread, with its place.
fn take_message() -> Option<String> {
    MESSAGE.take()
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.before);
    }
}
