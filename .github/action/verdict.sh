#!/usr/bin/env bash
# Ends action.yml with the exit code of the program. Input: EXIT_CODE.
set -euo pipefail
case "$EXIT_CODE" in
  0) ;;
  1) echo "::error title=AgenticIQA::Some images have no score. The job summary lists them." ;;
  3) echo "::error title=AgenticIQA::The quality gate was not met. The job summary lists the images." ;;
  *) echo "::error title=AgenticIQA::The quality gate could not run: see the log above." ;;
esac
exit "$EXIT_CODE"
