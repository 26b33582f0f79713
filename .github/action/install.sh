#!/usr/bin/env bash
# Installs the program for action.yml: from the archive of a release, or built from the action's own checkout.
#   VERSION       a release such as v0.1.0, `source`, or empty for the version of the checkout
#   ACTION_PATH   the checkout of the action
#   REPOSITORY    owner/name of the repository that has the releases
#   RELEASES_URL  where archives are, if not at GitHub (for a mirror)
# Writes the path of the program to GITHUB_OUTPUT as `program`.
set -euo pipefail

fail() {
  echo "::error title=AgenticIQA::$1"
  exit 1
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# Prints the HTTP status. curl itself reports network errors, which end the script.
download() {
  curl --silent --show-error --location --retry 3 --output "$2" --write-out '%{http_code}' "$1"
}

target() {
  case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo x86_64-unknown-linux-gnu ;;
    Linux-aarch64) echo aarch64-unknown-linux-gnu ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64) echo x86_64-pc-windows-msvc ;;
  esac
}

build() {
  command -v cargo >/dev/null || fail "Building from source needs a Rust toolchain. Install one in an earlier step."
  if command -v rustup >/dev/null; then
    rustup toolchain install stable --profile minimal --no-self-update
    export RUSTUP_TOOLCHAIN=stable
  fi
  cargo install --locked --path "$ACTION_PATH/crates/cli" --root "$home"
  program=$home/bin/agenticiqa$suffix
}

# Returns 1 if the release has no archive for this platform. As a condition it runs without `set -e`.
fetch() {
  local status wanted archive="agenticiqa-$1-$2.tar.gz"
  [ -z "$suffix" ] || archive="agenticiqa-$1-$2.zip"
  status=$(download "$releases/$1/$archive" "$home/archive") || fail "The download of $archive failed."
  [ "$status" != 404 ] || return 1
  [ "$status" = 200 ] || fail "The download of $archive failed with HTTP status $status."
  status=$(download "$releases/$1/SHA256SUMS" "$home/SHA256SUMS") || fail "The download of SHA256SUMS failed."
  [ "$status" = 200 ] || fail "The download of SHA256SUMS failed with HTTP status $status."
  wanted=$(awk -v file="$archive" '$2 == file || $2 == "*" file { print $1 }' "$home/SHA256SUMS")
  [ "$(sha256 "$home/archive")" = "$wanted" ] || fail "The checksum of $archive does not match SHA256SUMS."
  case "$archive" in
    *.zip) unzip -q "$home/archive" -d "$home" ;;
    *) tar -xzf "$home/archive" -C "$home" ;;
  esac || fail "$archive could not be unpacked."
  program=$home/agenticiqa-$1-$2/agenticiqa$suffix
}

home=$(mktemp -d "${RUNNER_TEMP:-/tmp}/agenticiqa-program.XXXXXX")
releases=${RELEASES_URL:-https://github.com/${REPOSITORY:-agenticiqa/agenticiqa}/releases/download}
target=$(target)
suffix=
case "$target" in *windows*) suffix=.exe ;; esac
checkout=v$(awk -F '"' '/^\[/ { section = $0 } section == "[workspace.package]" && /^version/ { print $2 }' "$ACTION_PATH/Cargo.toml")
version=${VERSION:-$checkout}
program=

case "$version" in
  source) build ;;
  *)
    version=v${version#v}
    if [ -n "$target" ] && fetch "$version" "$target"; then
      :
    elif [ "$version" = "$checkout" ]; then
      echo "There is no archive of $version for this platform: building it from source."
      build
    else
      # The checkout has another version: building it would run something else than was asked for.
      fail "There is no archive of $version for this platform. Use 'version: source', or use the action at $version."
    fi
    ;;
esac

"$program" --version
echo "program=$program" >>"$GITHUB_OUTPUT"
