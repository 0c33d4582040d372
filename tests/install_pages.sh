#!/usr/bin/env bash
# cmake --install installs the man pages and the completions of all shells: install_pages.sh CMAKE BUILD
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --install "$2" --prefix "$folder" --component pages >/dev/null
grep -q '^\.TH' "$folder/share/man/man1/goban-submit.1"
bash -n "$folder/share/bash-completion/completions/goban"
for file in bash-completion/completions/goban zsh/site-functions/_goban fish/vendor_completions.d/goban.fish; do
  grep -q submit "$folder/share/$file" || { echo "$file lacks commands" >&2; exit 1; }
done
