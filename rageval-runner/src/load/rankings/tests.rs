//! Tables of lines of JSON, and what is read from them.

use std::io::Write;

use super::*;

fn read(text: &[u8]) -> Result<Vec<String>, String> {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(text).expect("written");
    let mut lines = Vec::new();
    let measure = |query: &RankedQuery<'_>| {
        let judged: Vec<_> = query.judgements().map(|(id, grade)| format!("{id}:{grade}")).collect();
        let ranking: Vec<_> = query.ranking().map(|id| id.unwrap_or("-")).collect();
        format!("[{}] [{}]", judged.join(" "), ranking.join(" "))
    };
    let result = for_each(file.path(), measure, |id, said| lines.push(format!("{id} {said}")));
    let prefix = format!("{}:", file.path().display());
    result.map(|()| lines).map_err(|error| error.to_string().replace(&prefix, ""))
}

#[test]
fn ids_and_objects_are_read_under_every_name() {
    let text = concat!(
        r#"{"id":"q1","relevant_doc_ids":["a",{"id":"b","grade":2}],"retrieved":["b",{"id":"a","score":1.5,"text":"x"},null]}"#,
        "\n\n",
        r#"{"contexts":[],"gold_ids":null,"query_id":"q2","query":"ignored"}"#,
        "\r\n",
        r#"{"case_id":"q\u0033","relevant":["退款"],"retrieved_doc_ids":["退\u6b3e"]}"#,
    );
    let expected = ["q1 [a:1 b:2] [b a -]", "q2 [] []", "q3 [退款:1] [退款]"];
    assert_eq!(read(text.as_bytes()).expect("readable"), expected);
}

#[test]
fn a_byte_order_mark_and_odd_line_separators_are_text() {
    let text = "\u{feff}{\"id\":\"a\u{2028}b\u{85}\",\"relevant\":[\"x\"],\"retrieved\":[]}\n";
    assert_eq!(read(text.as_bytes()).expect("readable"), ["a\u{2028}b\u{85} [x:1] []"]);
}

#[test]
fn every_problem_is_told_with_its_line() {
    let rows: &[(&str, &str)] = &[
        ("", "1: the file is empty; expected one JSON object a line"),
        ("{\n", "1: column 1: EOF while parsing an object; one whole object a line is expected"),
        (r#"{"id":7,"relevant":[],"retrieved":[]}"#, "1: column 7: invalid type: integer `7`, expected a text"),
        (r#"{"id":"a","retrieved":[]}"#, "1: column 25: missing field `relevant_doc_ids`"),
        (r#"{"id":"a","relevant":[]}"#, "1: column 24: missing field `retrieved`"),
        (
            r#"{"id":"a","relevent":[],"retrieved":[]}"#,
            "1: column 20: unknown key `relevent`; did you mean `relevant`?",
        ),
        (
            r#"{"id":"a","query_id":"b","relevant":[],"retrieved":[]}"#,
            "1: column 24: `id` is given twice, perhaps under two of its names; keep one",
        ),
        (
            r#"{"id":"a","relevant":["x",{"id":"x","grade":2}],"retrieved":[]}"#,
            "1: document `x` has two grades; keep one of them",
        ),
        (r#"{"id":"a","relevant":[null],"retrieved":[]}"#, "1: a relevant document needs an id"),
        (
            r#"{"id":"a","relevant":["x"],"retrieved":[null,{"id":null}]}"#,
            "1: none of the retrieved documents has an id, so nothing can be compared",
        ),
    ];
    for (text, expected) in rows {
        assert_eq!(read(text.as_bytes()).expect_err(text), *expected);
    }
    let two =
        "{\"id\":\"dup\",\"relevant\":[],\"retrieved\":[]}\n[]\n{\"id\":\"dup\",\"relevant\":[],\"retrieved\":[]}\n";
    let error = read(two.as_bytes()).expect_err("two problems");
    assert_eq!(
        error,
        "2: invalid type: sequence, expected an object with `id`, `relevant_doc_ids` and `retrieved`\n\
         3: query `dup` stands at line 1 already; ids are unique"
    );
}

#[test]
fn a_file_of_many_blocks_is_taken_in_its_order_with_its_lines() {
    let line = |i: usize| format!("{{\"id\":\"q{i}\",\"relevant\":[\"a\"],\"retrieved\":[\"{}\"]}}\n", "x".repeat(200));
    let mut text: String = (0..50_000).map(line).collect();
    let got = read(text.as_bytes()).expect("readable");
    assert_eq!(got.len(), 50_000);
    assert!(got.iter().enumerate().all(|(i, said)| said.starts_with(&format!("q{i} "))));
    text.push_str(&line(49_999));
    assert_eq!(
        read(text.as_bytes()).expect_err("twice"),
        "50001: query `q49999` stands at line 50000 already; ids are unique"
    );
}

#[test]
fn one_line_longer_than_a_block_is_one_line() {
    let text = format!("{{\"id\":\"q\",\"relevant\":[],\"retrieved\":[\"{}\"]}}\n\n[", "x".repeat(6 << 20));
    assert!(read(text.as_bytes()).expect_err("an odd third line").starts_with("3: "));
}
