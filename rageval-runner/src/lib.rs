//! The quality gate of a retrieval-augmented generation (RAG) system, run by `cargo test`.

mod contain;
pub mod embed;
pub mod evaluate;
pub mod gate;
pub mod harness;
pub mod judge;
pub mod load;
pub mod metric;
pub mod model;
pub mod report;
pub mod stats;
pub mod store;
pub mod system;
pub mod text;
pub mod trust;

pub use harness::{Location, Suite};
pub use model::{Answer, RetrievedContext, Usage};
pub use rageval_macros::{main, metric};
pub use system::Question;

/// Any error of user code: everything that implements `std::error::Error`, and plain texts.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// A result whose error is any error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where a test's source stands; see [`Location`]. Expands in the user's crate, so that snapshots name the user's file.
#[macro_export]
macro_rules! location {
    () => {{
        fn assert_snapshot(name: &str, body: &str) {
            $crate::__private::insta::assert_snapshot!(name, body);
        }
        $crate::Location {
            manifest_dir: ::std::env!("CARGO_MANIFEST_DIR"),
            package: ::std::env!("CARGO_PKG_NAME"),
            target: ::std::env!("CARGO_CRATE_NAME"),
            file: ::std::file!(),
            line: ::std::line!(),
            snapshot: assert_snapshot,
        }
    }};
}

/// What macros expand to; no promise is made about it.
#[doc(hidden)]
pub mod __private {
    pub use insta;
}
