#!/usr/bin/env bash
# Writes the result of gate.sh to GITHUB_STEP_SUMMARY: the verdict, the images with the lowest scores, and what the program
# printed. Inputs: RECORDS, LOG, EXIT_CODE.
set -euo pipefail
rows=20

case "$EXIT_CODE" in
  0) verdict="passed" ;;
  1) verdict="incomplete: some images have no score" ;;
  3) verdict="failed" ;;
  *) verdict="could not run" ;;
esac

# File names come from pull requests: nothing in them may become markup.
table() {
  jq --raw-output --slurp --argjson rows "$rows" '
    def text: tostring | gsub("[\\r\\n]"; " ") | gsub("&"; "&amp;") | gsub("<"; "&lt;") | gsub("\\|"; "&#124;")
      | gsub("`"; "&#96;") | gsub("\\["; "&#91;") | gsub("\\*"; "&#42;") | gsub("_"; "&#95;") | gsub("~"; "&#126;");
    def fixed: . * 100 | round | "\(. / 100 | floor).\(. % 100 + 100 | tostring | .[1:])";
    map({
      name: (.sample_id | text),
      score: .summarizer_result.quality_score,
      interval: .summarizer_result.score_interval,
      level: (.summarizer_result.quality_level // ""),
      error: (.metadata.error_type // .metadata.final_status | text)
    }) as $all
    | ($all | map(select(.score != null)) | sort_by(.score)) as $scored
    | ($all | map(select(.score == null))) as $failed
    | "\($all | length) \(if ($all | length) == 1 then "image" else "images" end)"
      + (if $scored == [] then "" else ", lowest score \($scored[0].score | fixed), mean \($scored | map(.score) | add / length | fixed)" end)
      + (if $failed == [] then "" else ", \($failed | length) without a score" end) + ".",
      "",
      "| image | score (1-5) | 90% prediction interval | level |",
      "| --- | ---: | --- | --- |",
      (($failed | map("| \(.name) | - | | \(.error) |")) + ($scored
        | map("| \(.name) | \(.score | fixed) | \(if .interval then (.interval | map(fixed) | join(" to ")) else "" end) | \(.level) |"))
        | .[:$rows][]),
      (if ($all | length) > $rows then "", "Only the \($rows) lowest are shown." else empty end)
  ' "$RECORDS"
}

{
  echo "### Image quality: $verdict"
  echo
  if [ -s "$RECORDS" ] && command -v jq >/dev/null; then
    table
    echo
  fi
  if [ "$EXIT_CODE" != 0 ]; then
    # An indented block cannot be closed by its content.
    tail -n 60 "$LOG" | sed 's/^/    /'
    echo
  fi
} >>"$GITHUB_STEP_SUMMARY"
