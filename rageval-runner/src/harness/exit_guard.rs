//! A system that ends the process ends the gate: that must not look like success.
//!
//! `std::process::exit(0)` anywhere in user code would end the test binary with 0 before a single gate was decided. On Unix the
//! guard turns such an end into exit code 101; on Windows it does nothing, since the process ends there without running it.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the run is still to be decided.
static RAISED: AtomicBool = AtomicBool::new(false);

/// While raised, an end of the process is an end with 101, whoever ends it.
///
/// Raised before the first line of user code runs, and lowered once the run is decided and written.
pub(super) struct ExitGuard;

impl ExitGuard {
    /// Raises the guard. Once a process.
    pub(super) fn raise() -> Self {
        #[cfg(unix)]
        if !RAISED.swap(true, Ordering::SeqCst) {
            at_exit();
        }
        Self
    }

    /// The run is decided and written; the process ends next.
    pub(super) fn lower(self) {
        RAISED.store(false, Ordering::SeqCst);
    }
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "the only way to see `std::process::exit` from the inside")]
fn at_exit() {
    extern "C" fn ended() {
        if RAISED.load(Ordering::SeqCst) {
            super::trials::tell(
                "Error: the process was ended from inside, as by `std::process::exit`, before the run was decided and written; \
                 the system under test must return its errors",
            );
            // SAFETY: `_exit` only ends the process; nothing runs after it.
            unsafe { libc::_exit(101) };
        }
    }
    // SAFETY: `ended` is a plain function that never unwinds and touches only an atomic and stderr.
    unsafe { libc::atexit(ended) };
}
