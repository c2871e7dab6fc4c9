//! Systems that are reached over HTTP, as a program and as recorded answers, with everything that can go wrong on the way.
//!
//! The test binary is its own fake: started with `fake-system` it is the program under test, which works on every platform.

mod command;
mod fake;
mod http;
mod recorded;
#[path = "../support/request.rs"]
mod request;
mod stub;

use std::{future::Future, process::ExitCode, time::Duration};

use libtest_mimic::{Arguments, Trial};
use rageval_runner::{
    Answer,
    model::{CaseId, Unmeasured},
    system::{Question, RagSystem},
};

/// Trials named like their functions.
macro_rules! trials {
    ($($module:ident::$name:ident),* $(,)?) => {
        vec![$(Trial::test(concat!(stringify!($module), "::", stringify!($name)), || {
            $module::$name();
            Ok(())
        })),*]
    };
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("fake-system") => return fake::system(),
        Some("fake-sleeper") => return fake::sleeper(arguments.next().as_deref()),
        Some("fake-asker") => return http::ask_and_print(arguments.next().as_deref()),
        Some(_) | None => {}
    }
    let trials = trials![
        command::a_process_for_all_cases_answers_in_any_order,
        command::a_process_is_started_once_and_only_when_asked,
        command::a_program_runs_in_the_folder_of_the_policy_with_its_variables,
        command::a_crash_costs_the_case_in_flight_and_no_other,
        command::a_program_that_always_crashes_is_not_started_for_ever,
        command::a_program_that_answers_once_is_told_about_per_case,
        command::a_hang_ends_the_process_and_the_next_case_gets_a_new_one,
        command::a_time_out_beside_working_cases_harms_nobody,
        command::strange_lines_are_faults_of_their_cases,
        command::what_a_program_says_at_its_start_is_a_strange_line_too,
        command::lines_that_belong_to_no_case_are_a_notice,
        command::a_flood_without_a_line_end_is_bounded,
        command::a_flood_of_stderr_does_not_block,
        command::a_large_question_does_not_block,
        command::a_program_that_is_not_there_is_a_crash,
        command::a_process_for_each_case_answers,
        command::faults_of_a_process_for_each_case_are_told_apart,
        command::what_a_program_started_ends_with_it,
        http::a_question_is_sent_as_the_policy_describes_it,
        http::an_endpoint_that_is_not_there_is_an_error,
        http::a_call_that_is_given_up_ends_its_connection,
        http::an_error_status_shows_the_first_of_its_body_in_any_shape,
        http::only_a_refused_try_is_repeated,
        http::repetitions_are_bounded_in_number_and_time,
        http::a_redirect_is_not_followed,
        http::a_reply_that_cannot_be_read_is_invalid,
        http::a_secret_is_in_no_error_and_no_answer,
        http::hosts_on_this_machine_are_asked_without_a_proxy,
        recorded::answers_are_found_by_id,
        recorded::odd_files_are_read_or_refused,
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What came of one question: the answer, or cause and reason.
type Came = Result<Answer, (String, String)>;

fn question(id: &str, query: &str) -> Question {
    Question {
        case_id: CaseId::new(id).expect("a valid id"),
        query: query.to_owned(),
        language: None,
        metadata: [("plan".to_owned(), "pro".to_owned())].into(),
        repeat: None,
    }
}

/// Asks one question with a limit of ten seconds, which no test should reach.
async fn ask(system: &dyn RagSystem, id: &str, query: &str) -> Came {
    ask_within(system, id, query, Duration::from_secs(10)).await
}

async fn ask_within(system: &dyn RagSystem, id: &str, query: &str, limit: Duration) -> Came {
    match tokio::time::timeout(limit, system.ask(&question(id, query))).await {
        Ok(Ok(asked)) => Ok(asked.answer),
        Ok(Err(Unmeasured { cause, why })) => Err((cause, why)),
        Err(_) => Err(("time-out".to_owned(), String::new())),
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(future)
}

fn response(came: &Came) -> &str {
    match came {
        Ok(answer) => &answer.response,
        Err((cause, why)) => panic!("{cause}: {why}"),
    }
}

#[track_caller]
fn fault(came: Came) -> (String, String) {
    came.expect_err("a fault")
}
