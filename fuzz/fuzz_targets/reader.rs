//! Hands arbitrary text to the reader of judges' replies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rageval_runner::judge::reply::{Field, Form, Scale, read_fields, read_label, read_object, read_score};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let scale = Scale::new(1.0, 5.0).expect("a scale");
    if let Ok(object) = read_object(&text) {
        // What was read is strict JSON from now on, and strict JSON is read unchanged.
        assert_eq!(read_object(&object.to_string()), Ok(object));
    }
    let _ = read_fields(&text, &[Field { name: "score", form: Form::Score(scale) }]);
    if let Ok(score) = read_score(&text, scale) {
        assert!((1.0..=5.0).contains(&score));
    }
    let _ = read_label(&text, &["yes", "no", "not supported"]);
});
