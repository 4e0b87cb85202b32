#!/usr/bin/env bash
# Runs targets of make one after the other, up to the first that fails, and prints what
# each took. A target behind a "+" runs beside all that follow it; what it prints comes
# once these are over.  Usage: steps.sh [+]TARGET...
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d)
table=$scratch/table
touch "$table"
declare -A beside=()

# shellcheck disable=SC2317 # the trap calls it
finish() {
	local pid
	for pid in "${beside[@]}"; do kill -- "-$pid" 2>/dev/null || true; done # after an interrupt only
	printf '\n%7s  step\n' time
	cat "$table"
	rm -rf "$scratch"
}
trap finish EXIT

step() {
	local target=$1 began=$SECONDS status=ok took
	make --no-print-directory "$target" || status=FAILED
	took=$((SECONDS - began))
	printf '%4d:%02d  %s %s\n' $((took / 60)) $((took % 60)) "$target" "$status" >>"$table"
	[ "$status" = ok ]
}

result=0
for target in "$@"; do
	if [[ $target == +* ]]; then
		set -m # a process group of its own, to be ended as a whole
		step "${target#+}" >"$scratch/${target#+}" 2>&1 &
		set +m
		beside[${target#+}]=$!
	elif ! step "$target"; then
		result=1
		break
	fi
done
for target in "${!beside[@]}"; do
	wait "${beside[$target]}" || result=1
	unset "beside[$target]"
	cat "$scratch/$target"
done
exit "$result"
