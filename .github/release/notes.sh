#!/usr/bin/env bash
# Checks that a tag fits the sources and prints its section of CHANGELOG.md: .github/release/notes.sh v0.1.0
set -euo pipefail
cd "$(dirname "$0")/../.."
version=${1#v}
sources=$(awk -F '"' '/^\[/ { section = $0 } section == "[workspace.package]" && /^version/ { print $2 }' Cargo.toml)
if [ "$1" != "v$sources" ]; then
  echo "The tag is $1, but Cargo.toml has version $sources." >&2
  exit 1
fi
notes=$(awk -v heading="## [$version]" '/^## / { inside = index($0, heading) == 1; next } inside' CHANGELOG.md)
if [ -z "$notes" ]; then
  echo "CHANGELOG.md has no section [$version]." >&2
  exit 1
fi
echo "$notes"
