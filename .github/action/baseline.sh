#!/usr/bin/env bash
# Fetches the base branch's baseline, so that the report can say what this pull request lowered; with BASELINE=artifact it becomes the one
# that the gate compares with. In: BASELINE, BASELINE_FILE, BASE_SHA, BASE_REF, ARTIFACT, GH_TOKEN. Out: file.
set -euo pipefail

folder="$RUNNER_TEMP/rageval-base"
rm -rf "$folder"
mkdir -p "$folder"
file="$folder/$(basename "${BASELINE_FILE:-none}")"
samples="${BASELINE_FILE%.json}.samples.jsonl"

case ${BASELINE:-checked-in} in
artifact)
    # The newest green run of this workflow on the base branch that left one; accept.sh makes them of whole runs alone.
    workflow=$(gh api "repos/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID" --jq .workflow_id)
    run=$(gh api "repos/$GITHUB_REPOSITORY/actions/workflows/$workflow/runs?branch=${BASE_REF:-$GITHUB_REF_NAME}&status=success&per_page=20" \
        --jq '.workflow_runs[].id' | while read -r id; do
        if gh api "repos/$GITHUB_REPOSITORY/actions/runs/$id/artifacts" --jq '.artifacts[] | select(.expired | not) | .name' | grep -qxF "$ARTIFACT"; then
            echo "$id"
            break
        fi
    done)
    if [[ -n $run ]]; then
        gh run download "$run" --repo "$GITHUB_REPOSITORY" --name "$ARTIFACT" --dir "$folder"
        mkdir -p "$(dirname "$BASELINE_FILE")"
        cp "$folder"/* "$(dirname "$BASELINE_FILE")/"
    elif [[ -f $BASELINE_FILE ]]; then
        echo "::notice title=rageval::no green run of ${BASE_REF:-$GITHUB_REF_NAME} left the artifact $ARTIFACT: the file that is checked in is the baseline"
    else
        echo "::error title=rageval::no green run of ${BASE_REF:-$GITHUB_REF_NAME} left the artifact $ARTIFACT, and $BASELINE_FILE is not checked in: accept a run and commit it once"
        exit 3
    fi
    ;;
checked-in)
    if [[ -n ${BASE_SHA:-} && -n ${BASELINE_FILE:-} ]]; then
        git fetch --quiet --no-tags --depth=1 origin "$BASE_SHA" || true
        prefix=$(git rev-parse --show-prefix)
        if git show "$BASE_SHA:$prefix$BASELINE_FILE" >"$file" 2>/dev/null; then
            git show "$BASE_SHA:$prefix$samples" >"$folder/$(basename "$samples")" 2>/dev/null || true
        else
            rm -f "$file"
            if git cat-file -e "$BASE_SHA^{commit}" 2>/dev/null; then
                echo "the base branch has no $BASELINE_FILE"
            else
                echo "::warning title=rageval::the base commit could not be fetched: what this pull request lowered is not shown; check out with fetch-depth: 0"
            fi
        fi
    fi
    ;;
*)
    echo "::error title=rageval::baseline is neither checked-in nor artifact"
    exit 2
    ;;
esac
if [[ -f $file ]]; then echo "file=$file" >>"$GITHUB_OUTPUT"; fi
