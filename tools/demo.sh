#!/usr/bin/env bash
# The demonstration that ./dev demo runs once the program is built: a generated history of jobs,
# replayed under several policies.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

goban=build/bin/goban
jobs=out/demo/jobs.csv
mkdir -p out/demo

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

show "$goban" trace generate --like poisson --jobs 2000 --seed 1 --out "$jobs"
show "$goban" simulate --cluster sia-64 --jobs "$jobs" \
  --policy fifo-packed-strict,packed-sticky-artifact,packed-nonsticky-artifact,pm-first-artifact,pal-artifact \
  --out out/demo
