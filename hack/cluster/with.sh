#!/usr/bin/env bash
# Runs a command while the local cluster is up. One that was not up before is taken
# down afterwards, whatever came of the command.  Usage: with.sh COMMAND...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { echo "usage: with.sh COMMAND..." >&2; exit 2; }

"$here/up.sh" --status >/dev/null 2>&1 || trap '"$here/down.sh"' EXIT
"$here/up.sh"
"$@"
