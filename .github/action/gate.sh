#!/usr/bin/env bash
# Runs the quality gate of action.yml. Inputs: PROGRAM, IMAGES, FAIL_UNDER, BASELINE, MAX_DROP, JUNIT, ARGS,
# WORKING_DIRECTORY. Writes `records`, `log` and `exit-code` to GITHUB_OUTPUT. It succeeds even if the gate is not met,
# so that the summary is written before the job fails.
set -euo pipefail

fail() {
  echo "::error title=AgenticIQA::$1"
  exit 2
}

home=$(mktemp -d "${RUNNER_TEMP:-/tmp}/agenticiqa-gate.XXXXXX")
cd "$WORKING_DIRECTORY"
command=("$PROGRAM" batch --output "$home/records.jsonl")

while IFS= read -r pattern; do
  pattern=$(sed 's/^[[:space:]]*//; s/[[:space:]]*$//' <<<"$pattern")
  [ -z "$pattern" ] || command+=(--images "$pattern")
done <<<"$IMAGES"

[ -z "$FAIL_UNDER" ] || command+=(--fail-under "$FAIL_UNDER")
[ -z "$BASELINE" ] || command+=(--baseline "$BASELINE")
[ -z "$MAX_DROP" ] || command+=(--max-drop "$MAX_DROP")
[ -z "$JUNIT" ] || command+=(--junit "$JUNIT")

# xargs understands quotes and, unlike eval, runs nothing that the text contains.
if [ -n "$ARGS" ]; then
  words=$(xargs -n 1 printf '%s\n' <<<"$ARGS") || fail "args has a quote without its partner: $ARGS"
  while IFS= read -r word; do command+=("$word"); done <<<"$words"
fi

set +e
"${command[@]}" 2>&1 | tee "$home/log"
code=${PIPESTATUS[0]}
set -e

{
  echo "records=$home/records.jsonl"
  echo "log=$home/log"
  echo "exit-code=$code"
} >>"$GITHUB_OUTPUT"
