//! Panics of user code, kept off the screen and turned into messages.

use std::{
    cell::{Cell, RefCell},
    panic,
    sync::Once,
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
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
            let said = info
                .payload()
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| info.payload().downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "a panic without a message".to_owned());
            let message = match info.location() {
                Some(place) => format!("{said} (at {}:{})", place.file(), place.line()),
                None => said,
            };
            MESSAGE.set(Some(message));
        }));
    });
    MESSAGE.set(None);
    Quiet { before: QUIET.replace(true) }
}

/// The message of the last quiet panic of this thread, with its place.
pub(crate) fn take_message() -> Option<String> {
    MESSAGE.take()
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.before);
    }
}
