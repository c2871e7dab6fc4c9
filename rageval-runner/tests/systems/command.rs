//! System kind `command` with a program that misbehaves.

use std::{
    collections::BTreeMap,
    io::Read,
    net::TcpListener,
    path::Path,
    time::{Duration, Instant},
};

use rageval_runner::{
    RetrievedContext,
    model::GoldenSet,
    system::{
        self, RagSystem,
        spec::{CommandSpec, Per, SystemKind, SystemSpec},
    },
};

use crate::{ask, ask_within, fault, response, run};

fn open_in(folder: &Path, per: Per, env: &[(&str, &str)]) -> Box<dyn RagSystem> {
    let own = std::env::current_exe().expect("a path");
    let own = own.to_str().expect("a path in UTF-8").to_owned();
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    open_spec(CommandSpec { run: vec![own, "fake-system".to_owned()], per, env, folder: folder.to_owned() })
}

fn open_spec(spec: CommandSpec) -> Box<dyn RagSystem> {
    let spec = SystemSpec::of_kind(SystemKind::Command(spec));
    system::open(&spec, Path::new("."), &|_| None, &GoldenSet::default()).expect("a system")
}

fn open(per: Per) -> Box<dyn RagSystem> {
    open_in(&std::env::temp_dir(), per, &[])
}

/// A reason without the path of the test binary.
fn without_name(why: &str) -> &str {
    why.strip_prefix('`').and_then(|rest| rest.split_once("` ")).map_or(why, |(_, why)| why)
}

pub(crate) fn a_process_for_all_cases_answers_in_any_order() {
    let system = open(Per::Run);
    run(async {
        let (a, b, c) =
            tokio::join!(ask(&*system, "a", "hold"), ask(&*system, "b", "hold"), ask(&*system, "c", "why?\n退款"));
        assert_eq!((response(&a), response(&b), response(&c)), ("held", "held", "re: why?\n退款"));
        assert_eq!(c.expect("an answer").retrieved_contexts, [RetrievedContext::new("d1", "fee")]);
    });
    assert_eq!(system.notices(&GoldenSet::default()), Vec::<String>::new());
}

pub(crate) fn a_process_is_started_once_and_only_when_asked() {
    let system = open(Per::Run);
    run(async {
        let (one, two) = tokio::join!(ask(&*system, "a", "process"), ask(&*system, "b", "process"));
        let three = ask(&*system, "a", "process").await;
        assert_eq!((response(&one), response(&two)), (response(&three), response(&three)));
    });
    // Nothing of a program that does not exist is noticed until the first question.
    let missing = CommandSpec {
        run: vec!["./no-such-program".to_owned()],
        per: Per::Run,
        env: BTreeMap::new(),
        folder: std::env::temp_dir(),
    };
    drop(open_spec(missing));
}

pub(crate) fn a_program_runs_in_the_folder_of_the_policy_with_its_variables() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().canonicalize().expect("a path");
    for per in [Per::Run, Per::Case] {
        let system = open_in(&folder, per, &[("FAKE_GREETING", "hello")]);
        let came = run(ask(&*system, "a", "where"));
        assert_eq!(response(&came), format!("{} hello", folder.display()));
    }
}

pub(crate) fn a_crash_costs_the_case_in_flight_and_no_other() {
    let system = open(Per::Run);
    run(async {
        assert_eq!(response(&ask(&*system, "a", "why?").await), "re: why?");
        let (cause, why) = fault(ask(&*system, "b", "crash").await);
        assert_eq!(cause, "system crashed");
        assert!(without_name(&why).starts_with("ended with exit "), "{why}");
        assert!(why.ends_with("3, stderr: loading | index is gone"), "{why}");
        assert_eq!(response(&ask(&*system, "c", "why?").await), "re: why?");
    });
}

pub(crate) fn a_program_that_always_crashes_is_not_started_for_ever() {
    let system = open(Per::Run);
    run(async {
        for id in ["a", "b", "c", "d"] {
            assert!(fault(ask(&*system, id, "crash").await).1.ends_with("index is gone"));
        }
        let (cause, why) = fault(ask(&*system, "e", "why?").await);
        assert_eq!(cause, "system crashed");
        assert!(
            without_name(&why)
                .starts_with("was started 4 times and is not started again; the last one ended with exit "),
            "{why}"
        );
        assert!(why.ends_with("stderr: loading | index is gone"), "{why}");
    });
}

pub(crate) fn a_program_that_answers_once_is_told_about_per_case() {
    let system = open(Per::Run);
    run(async {
        // The first one is held back, so that it waits when the program ends.
        let (held, once) = tokio::join!(ask(&*system, "a", "hold"), ask(&*system, "b", "once"));
        assert_eq!(response(&once), "once");
        let (_, why) = fault(held);
        assert!(why.ends_with("; a program that answers one question and ends needs `per: case`"), "{why}");
    });
}

pub(crate) fn a_hang_ends_the_process_and_the_next_case_gets_a_new_one() {
    let system = open(Per::Run);
    run(async {
        let before = ask(&*system, "a", "process").await;
        let limit = Duration::from_millis(300);
        let (hung, beside) = tokio::join!(ask_within(&*system, "b", "hang", limit), ask(&*system, "c", "why?"));
        assert_eq!(fault(hung).0, "time-out");
        let (cause, why) = fault(beside);
        assert_eq!(
            (cause.as_str(), without_name(&why)),
            ("system crashed", "was ended, since it answered nothing while `b` ran into its time limit")
        );
        let after = ask(&*system, "d", "process").await;
        assert_ne!(response(&before), response(&after));
    });
}

pub(crate) fn a_time_out_beside_working_cases_harms_nobody() {
    let system = open(Per::Run);
    run(async {
        let before = ask(&*system, "a", "process").await;
        let (beside, answered) = (ask(&*system, "c", "silent"), ask(&*system, "d", "process"));
        // The three wait in this order, and `d` has the whole limit of `b` for its reply.
        let ignored = ask_within(&*system, "b", "ignore", Duration::from_secs(2));
        let (ignored, answered) = tokio::join!(ignored, async {
            tokio::select! { biased; never = beside => never, answered = answered => answered }
        });
        assert_eq!(fault(ignored).0, "time-out");
        assert_eq!(response(&answered), response(&before));
        assert_eq!(response(&ask(&*system, "e", "process").await), response(&before));
    });
}

pub(crate) fn strange_lines_are_faults_of_their_cases() {
    let table = [
        ("garbage", "wrote a line that is no JSON object (expected value): Traceback (most recent call last)"),
        ("cut", "wrote a line that is no JSON object ("),
        ("unknown", "wrote a reply to `other`, which was not asked"),
        ("anonymous", "wrote a reply without `id`: {\"response\": \"?\"}"),
        (
            "wrong",
            "wrote an unreadable reply: `response` must be a text, got the number 7; `contexts` must be a list of texts",
        ),
    ];
    for (query, expected) in table {
        let system = open(Per::Run);
        run(async {
            let bad = ask(&*system, "bad", query);
            let (bad, good, later) = tokio::join!(bad, ask(&*system, "good", "why?"), ask(&*system, "later", "why?"));
            let (cause, why) = fault(bad);
            assert_eq!(cause, "system reply invalid");
            assert!(without_name(&why).starts_with(expected), "{why}");
            assert_eq!((response(&good), response(&later)), ("re: why?", "re: why?"));
        });
    }
    let system = open(Per::Run);
    run(async {
        let (cause, why) = fault(ask(&*system, "a", "error no index").await);
        assert_eq!((cause.as_str(), without_name(&why)), ("system error", "says: no index"));
        // The first reply is the case's; the second is held against whoever waits: `c`, which is held back and so waits before `b` is asked.
        let (beside, twice) = tokio::join!(ask(&*system, "c", "hold"), ask(&*system, "b", "twice"));
        assert_eq!(response(&twice), "one");
        assert_eq!(without_name(&fault(beside).1), "wrote a second reply to `b`; a reply is one line, and whole");
    });
}

pub(crate) fn what_a_program_says_at_its_start_is_a_strange_line_too() {
    let system = open_in(&std::env::temp_dir(), Per::Run, &[("FAKE_NOISE", "Loading model ...")]);
    run(async {
        let (cause, why) = fault(ask(&*system, "a", "why?").await);
        assert_eq!(cause, "system reply invalid");
        assert!(why.ends_with("wrote a line that is no JSON object (expected value): Loading model ..."), "{why}");
        assert_eq!(response(&ask(&*system, "b", "why?").await), "re: why?");
    });
}

pub(crate) fn lines_that_belong_to_no_case_are_a_notice() {
    let system = open(Per::Run);
    let notices = run(async {
        assert_eq!(response(&ask(&*system, "a", "twice").await), "one");
        // Nobody waits for the second line, so only its effect can be waited for.
        for _ in 0..500 {
            if !system.notices(&GoldenSet::default()).is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        system.notices(&GoldenSet::default())
    });
    assert_eq!(notices.len(), 1);
    assert_eq!(without_name(&notices[0]), "wrote a second reply to `a`; a reply is one line, and whole");
}

pub(crate) fn a_flood_without_a_line_end_is_bounded() {
    let system = open(Per::Run);
    run(async {
        let (cause, why) = fault(ask(&*system, "a", "flood").await);
        assert_eq!(
            (cause.as_str(), without_name(&why)),
            ("system reply invalid", "wrote a line of more than 16 MiB and was ended")
        );
        assert_eq!(response(&ask(&*system, "b", "why?").await), "re: why?");
    });
    let (cause, why) = fault(run(ask(&*open(Per::Case), "a", "flood")));
    assert_eq!((cause.as_str(), why.as_str()), ("system reply invalid", "stdout is longer than 16 MiB"));
}

pub(crate) fn a_flood_of_stderr_does_not_block() {
    for per in [Per::Run, Per::Case] {
        assert_eq!(response(&run(ask(&*open(per), "a", "stderr"))), "quiet");
    }
}

pub(crate) fn a_large_question_does_not_block() {
    let query = format!("length {}", "x".repeat(1 << 20));
    for per in [Per::Run, Per::Case] {
        assert_eq!(response(&run(ask(&*open(per), "a", &query))), query.len().to_string());
    }
}

pub(crate) fn a_program_that_is_not_there_is_a_crash() {
    for per in [Per::Run, Per::Case] {
        let system = open_spec(CommandSpec {
            run: vec!["./no/rag".to_owned()],
            per,
            env: BTreeMap::new(),
            folder: std::env::temp_dir(),
        });
        run(async {
            for id in ["a", "b"] {
                let (cause, why) = fault(ask(&*system, id, "why?").await);
                assert_eq!(cause, "system crashed");
                assert!(why.starts_with("`./no/rag` could not be started: "), "{why}");
            }
        });
    }
}

pub(crate) fn a_process_for_each_case_answers() {
    let system = open(Per::Case);
    run(async {
        let (one, two) = tokio::join!(ask(&*system, "a", "process"), ask(&*system, "b", "process"));
        assert_ne!(response(&one), response(&two));
        assert_eq!(one.expect("an answer").retrieved_contexts, [RetrievedContext::new("d1", "fee")]);
    });
}

pub(crate) fn faults_of_a_process_for_each_case_are_told_apart() {
    let table = [
        ("crash", "system crashed", "ended with exit "),
        ("silent", "system reply invalid", "wrote nothing to stdout"),
        (
            "garbage",
            "system reply invalid",
            "must write one JSON object and nothing else to stdout (expected value), it wrote: Traceback",
        ),
        (
            "twice",
            "system reply invalid",
            "must write one JSON object and nothing else to stdout (trailing characters), it wrote: {",
        ),
        ("unknown", "system reply invalid", "answered with the id `other`, which is not that of the question"),
        ("wrong", "system reply invalid", "wrote an unreadable reply: `response` must be a text, got the number 7; "),
        ("error no index", "system error", "says: no index"),
    ];
    let system = open(Per::Case);
    run(async {
        for (query, expected, start) in table {
            let (cause, why) = fault(ask(&*system, "a", query).await);
            assert_eq!(cause, expected, "{why}");
            assert!(without_name(&why).starts_with(start), "{why}");
        }
        // Without an id, the reply can only be to the one question.
        assert_eq!(response(&ask(&*system, "a", "anonymous").await), "?");
        assert_eq!(fault(ask_within(&*system, "a", "hang", Duration::from_millis(200)).await).0, "time-out");
    });
}

/// On Unix; elsewhere a program's own children are left, as the documentation says.
pub(crate) fn what_a_program_started_ends_with_it() {
    if cfg!(not(unix)) {
        return;
    }
    for per in [Per::Run, Per::Case] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let query = format!("spawn {}", listener.local_addr().expect("an address").port());
        let started = Instant::now();
        let mut connection = run(async {
            let system = open(per);
            let came = ask(&*system, "a", &query).await;
            assert_eq!(response(&came), "spawned");
            listener.accept().expect("a connection").0
        });
        connection.set_read_timeout(Some(Duration::from_secs(5))).expect("a time limit");
        // The end of the connection, in either form, is the end of the process. (A plain `read` may be interrupted by a signal.)
        match connection.read_to_end(&mut Vec::new()) {
            Ok(read) => assert_eq!(read, 0),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
