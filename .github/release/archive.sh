#!/usr/bin/env bash
# Packs the program for a release: .github/release/archive.sh VERSION TARGET PROGRAM FOLDER. The archive holds the program,
# the README, the licenses and the notices of the models and images that are part of the program.
set -euo pipefail
version=$1 target=$2 program=$(realpath "$3") folder=$4
mkdir -p "$folder"
folder=$(realpath "$folder")
cd "$(dirname "$0")/../.."
name=agenticiqa-$version-$target
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/$name"
cp "$program" "$place/$name/"
# Below their own paths, which LICENSE and README.md name.
for file in README.md CHANGELOG.md LICENSE LICENSE-APACHE LICENSE-MIT crates/*/models/NOTICE.md examples/LICENSES.md; do
  mkdir -p "$place/$name/$(dirname "$file")"
  cp "$file" "$place/$name/$file"
done
cd "$place"
case "$target" in
  *windows*) 7z a -tzip -bso0 "$folder/$name.zip" "$name" ;;
  *) tar -czf "$folder/$name.tar.gz" "$name" ;;
esac
