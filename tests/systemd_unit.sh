#!/usr/bin/env bash
# The systemd unit is valid, and jobs outlive its restarts: systemd_unit.sh SYSTEMD-ANALYZE UNIT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The program need not be installed.
sed 's#^ExecStart=/usr/local/bin/goban#ExecStart=/bin/true#' "$2" >"$folder/goban.service"
cp "$(dirname "$2")/goban-jobs.service" "$folder"
sed 's#^ExecStart=/usr/local/bin/goban#ExecStart=/bin/true#' "$(dirname "$2")/goban-agent.service" >"$folder/goban-agent.service"
"$1" verify --man=no "$folder/goban.service" "$folder/goban-agent.service"
for line in 'KillMode=process' 'Delegate=yes' 'ExecReload=kill -HUP $MAINPID'; do
  grep -qxF "$line" "$2" || { echo "$2 lacks $line" >&2; exit 1; }
done
grep -qxF Delegate=yes "$folder/goban-jobs.service"
