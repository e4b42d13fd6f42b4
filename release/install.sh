#!/bin/sh
# Installs ramus for Linux or macOS: curl -fsSL https://github.com/ramus-dev/ramus/releases/latest/download/install.sh | sh
# RAMUS_INSTALL_DIR: where the program goes (~/.local/bin). RAMUS_DOWNLOAD: where archives come from.
set -eu
from=${RAMUS_DOWNLOAD:-https://github.com/ramus-dev/ramus/releases/latest/download}
to=${RAMUS_INSTALL_DIR:-$HOME/.local/bin}
fail() { echo "ramus: $*" >&2; exit 1; }

case $(uname -s) in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no ready program for $(uname -s); try \`cargo install ramus\`" ;;
esac
case $(uname -m) in
  x86_64 | amd64) processor=x86_64 ;;
  aarch64 | arm64) processor=aarch64 ;;
  *) fail "there is no ready program for $(uname -m); try \`cargo install ramus\`" ;;
esac
name=ramus-$processor-$system

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
get() {
  if command -v curl >/dev/null 2>&1; then curl -fsSL "$from/$1" -o "$scratch/$1"
  elif command -v wget >/dev/null 2>&1; then wget -q "$from/$1" -O "$scratch/$1"
  else fail "curl or wget is needed"; fi || fail "cannot download $from/$1"
}
get "$name.tar.gz"
get "$name.tar.gz.sha256"
cd "$scratch"
if command -v sha256sum >/dev/null 2>&1; then sha256sum -c "$name.tar.gz.sha256" >/dev/null
elif command -v shasum >/dev/null 2>&1; then shasum -a 256 -c "$name.tar.gz.sha256" >/dev/null
else fail "sha256sum or shasum is needed"; fi || fail "the download is damaged: its checksum differs"
tar xzf "$name.tar.gz"

mkdir -p "$to"
# Renamed into place: a ramus that is running keeps its own file.
cp "$name/ramus" "$to/.ramus-new" && chmod 755 "$to/.ramus-new" && mv "$to/.ramus-new" "$to/ramus"
share=${XDG_DATA_HOME:-$HOME/.local/share}
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
cp "$name"/man/*.1 "$share/man/man1/"
cp "$name/completions/ramus.bash" "$share/bash-completion/completions/ramus"
cp "$name/completions/_ramus" "$share/zsh/site-functions/"
cp "$name/completions/ramus.fish" "$share/fish/vendor_completions.d/"

echo "Installed $("$to/ramus" --version) as $to/ramus"
case ":$PATH:" in
  *":$to:"*) ;;
  *) echo "Add $to to your PATH to run it as \`ramus\`" ;;
esac
