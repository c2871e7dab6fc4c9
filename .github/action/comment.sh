#!/usr/bin/env bash
# Writes the one comment of a pull request, or updates it in place. In: COMMENT, NAME, NUMBER, GH_TOKEN.
# A comment that can't be written is told and changes nothing about the gate.
set -uo pipefail

marker="<!-- rageval-action:$NAME -->"
comments="repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments"
# Only a bot's own comment: a person's, who quotes the marker, is left alone.
# shellcheck disable=SC2016 # $marker is jq's, from the environment
id=$(MARKER="$marker" gh api --paginate "$comments?per_page=100" \
    --jq '.[] | select(.user.type == "Bot" and (.body | contains(env.MARKER))) | .id' | head -n 1)
if [[ -n $id ]]; then
    gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field "body=@$COMMENT"
else
    gh api --silent --method POST "$comments" --field "body=@$COMMENT"
fi || echo "::warning title=rageval::the comment could not be written; the summary says the same"
