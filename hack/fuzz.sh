#!/usr/bin/env bash
# Runs every fuzz target of the module for a time each: fuzz.sh [10s]
set -euo pipefail
cd "$(dirname "$0")/.."

grep -rEl --include='*_test.go' '^func Fuzz' api runner controllers | xargs -n1 dirname | sort -u | while read -r dir; do
	grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | sed 's/^func //' | while read -r target; do
		echo "== ./$dir $target"
		go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "${1:-10s}"
	done
done
