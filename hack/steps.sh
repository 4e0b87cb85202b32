#!/usr/bin/env bash
# Runs targets of make one after the other, up to the first that fails, and prints what
# each took.  Usage: steps.sh TARGET...
set -euo pipefail
cd "$(dirname "$0")/.."

table=$(mktemp)
trap 'printf "\n%7s  step\n" time; cat "$table"; rm -f "$table"' EXIT
for target in "$@"; do
	began=$SECONDS status=ok
	make --no-print-directory "$target" || status=FAILED
	took=$((SECONDS - began))
	printf '%4d:%02d  %s %s\n' $((took / 60)) $((took % 60)) "$target" "$status" >>"$table"
	[ "$status" = ok ] || exit 1
done
