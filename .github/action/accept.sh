#!/usr/bin/env bash
# Makes the baseline that later pull requests are held against of a green run of the base branch. In: RUNS, BASELINE_FILE. Out: folder.
# A run that can't be one is told, and leaves the one of before in force.
set -uo pipefail

why="green run $GITHUB_RUN_ID of $GITHUB_REF_NAME at $GITHUB_SHA"
if ! RAGEVAL_RUNS="$RUNS" cargo rageval baseline accept --reason "$why"; then
    echo "::warning title=rageval::the run could not be accepted; the baseline stays the one of before"
    exit 0
fi
folder="$RUNNER_TEMP/rageval/baseline"
mkdir -p "$folder"
cp "${BASELINE_FILE%.json}".* "$folder/"
if [[ -f $(dirname "$BASELINE_FILE")/history.jsonl ]]; then cp "$(dirname "$BASELINE_FILE")/history.jsonl" "$folder/"; fi
echo "folder=$folder" >>"$GITHUB_OUTPUT"
