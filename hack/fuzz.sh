#!/usr/bin/env bash
# Runs every fuzz target of the module for a time each: fuzz.sh [10s]
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The go command at times takes its own deadline for a failure of the target.
# A real one names the input that it wrote down.
fuzz() {
	go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$3" 2>&1 | tee "$log" && return
	grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"
}

grep -rEl --include='*_test.go' '^func Fuzz' api runner controllers | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | while read -r target; do
		echo "== ./$dir $target"
		fuzz "$dir" "$target" "${1:-10s}"
	done
done
