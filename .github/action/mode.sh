#!/usr/bin/env bash
# Chooses how stored replies are used. In: JUDGE_MODE, JUDGE_KEY_ENV. Out: judge-mode, without-key.
set -euo pipefail

mode=$JUDGE_MODE
without_key=false
case $mode in
live | cached | replay) ;;
auto)
    mode=""
    # A secret that a fork does not get is a variable that is set and empty.
    if [[ -n ${JUDGE_KEY_ENV:-} && -z ${!JUDGE_KEY_ENV:-} ]]; then
        mode=replay
        without_key=true
        echo "::notice title=rageval::no key in $JUDGE_KEY_ENV: stored replies only; a reply that is missing stays red"
    fi
    ;;
*)
    echo "::error title=rageval::judge-mode is not one of auto, live, cached, replay"
    exit 2
    ;;
esac
{
    echo "judge-mode=$mode"
    echo "without-key=$without_key"
} >>"$GITHUB_OUTPUT"
