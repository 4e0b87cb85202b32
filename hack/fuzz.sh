#!/usr/bin/env bash
# Runs fuzz targets for a time each, those of the whole module or of the given
# folders: fuzz.sh [10s [FOLDER...]]
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-10s}
folders=("${@:2}")
[ ${#folders[@]} -gt 0 ] || folders=(api runner controllers)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The go command at times takes its own deadline for a failure of the target.
# A real one names the input that it wrote down.
fuzz() {
	go test "./$1" -run '^$' -fuzz "^$2\$" -fuzztime "$3" 2>&1 | tee "$log" && return
	grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input' "$log"
}

grep -rEl --include='*_test.go' '^func Fuzz' "${folders[@]}" | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | while read -r target; do
		echo "== ./$dir $target"
		fuzz "$dir" "$target" "$time"
	done
done
