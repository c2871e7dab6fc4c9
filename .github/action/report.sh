#!/usr/bin/env bash
# Writes every report of the run. In: EXIT_CODE, RUNS, BASE_BASELINE, WITHOUT_KEY, NAME, ARTIFACT. Out: folder, comment.
# A report that can't be written is told and changes nothing about the gate.
set -uo pipefail

folder="$RUNNER_TEMP/rageval/reports"
mkdir -p "$folder"
export RAGEVAL_RUNS="$RUNS"
marker="<!-- rageval-action:$NAME -->"
base=()
if [[ -n ${BASE_BASELINE:-} ]]; then base=(--base-baseline "$BASE_BASELINE"); fi

needs_maintainer=""
if [[ ${WITHOUT_KEY:-false} == true && $EXIT_CODE != 0 ]]; then
    needs_maintainer="**Needs a maintainer's run.** This run had no key, so that only stored replies of the judge count; what needed another one is unmeasured, and stays red."
fi

if [[ ! -e $RUNS/latest ]]; then
    {
        echo "**rageval: undecided: the gate left no run** (exit code $EXIT_CODE). It did not build, or its set-up is broken: see the log."
        printf '\n%s\n' "$marker"
    } >"$folder/comment.md"
    cat "$folder/comment.md" >>"$GITHUB_STEP_SUMMARY"
    {
        echo "folder=$folder"
        echo "comment=$folder/comment.md"
    } >>"$GITHUB_OUTPUT"
    exit 0
fi

report() { # format, file
    if ! cargo rageval report --format "$1" --out "$folder/$2" --artifact "$ARTIFACT" "${base[@]}"; then
        echo "::warning title=rageval::the report $2 could not be written"
        return 1
    fi
}
report html report.html
report junit junit.xml
report json report.json
report csv scores.csv
# What is written for people: the report with what a fork lacks below its first line, or that there is none.
told() { # format, file
    if report "$1" "$2" >&2; then
        head -n 1 "$folder/$2"
        [[ -z $needs_maintainer ]] || printf '\n%s\n\n' "$needs_maintainer"
        tail -n +2 "$folder/$2"
        rm "$folder/$2"
    else
        echo "**rageval: the gate ended with exit code $EXIT_CODE, and its report could not be written:** see the log."
        [[ -z $needs_maintainer ]] || printf '\n%s\n' "$needs_maintainer"
    fi
}
told summary summary.md >>"$GITHUB_STEP_SUMMARY"
{
    told markdown body.md
    printf '\n%s\n' "$marker"
} >"$folder/comment.md"
echo "comment=$folder/comment.md" >>"$GITHUB_OUTPUT"
# The only lines that are meant as commands; the texts in them are escaped.
if report annotations annotations.txt; then cat "$folder/annotations.txt"; fi
cp -R "$RUNS" "$folder/runs"
echo "folder=$folder" >>"$GITHUB_OUTPUT"
