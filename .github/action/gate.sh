#!/usr/bin/env bash
# Runs the gate and keeps its exit code for the last step. In: COMMAND, RAGEVAL_JUDGE_MODE. Out: exit-code, runs.
set -uo pipefail

# Runs of before, restored with the build, are no runs of this commit.
export RAGEVAL_RUNS="$RUNNER_TEMP/rageval/runs"
rm -rf "$RUNNER_TEMP/rageval"
mkdir -p "$RAGEVAL_RUNS"
# An empty word would be an unknown mode.
[[ -n ${RAGEVAL_JUDGE_MODE:-} ]] || unset RAGEVAL_JUDGE_MODE

# Answers are printed: what looks like a command to GitHub in them must not be one.
token=$(head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n')
echo "::stop-commands::$token"
(
    unset GITHUB_OUTPUT GITHUB_ENV GITHUB_PATH GITHUB_STEP_SUMMARY GITHUB_STATE
    bash -c "$COMMAND"
)
code=$?
# A last line without an end would hide the command.
printf '\n::%s::\n' "$token"
{
    echo "exit-code=$code"
    echo "runs=$RAGEVAL_RUNS"
} >>"$GITHUB_OUTPUT"
