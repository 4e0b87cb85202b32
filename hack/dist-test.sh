#!/usr/bin/env bash
# Makes a release for a test, which an update of Debian may not break: where the archive
# has no more what hack/images/debian.lock names, it writes a lock of what there is to
# the file LOCK and goes on with that, in later runs too. A release is not made so:
# dist.sh refuses.  Usage: dist-test.sh LOCK [FOLDER], both with their whole paths
set -euo pipefail
cd "$(dirname "$0")/.."
lock=$1
shift

said=$(mktemp)
trap 'rm -f "$said"' EXIT
if [ ! -e "$lock" ]; then
	if hack/dist.sh "$@" 2>"$said"; then
		cat "$said" >&2
		exit
	fi
	cat "$said" >&2
	grep -q 'debian.lock is stale' "$said" || exit 1
	DEBIAN_LOCK=$lock go run ./hack/images lock
fi
echo "STALE LOCK: the archive has no more what hack/images/debian.lock names, so that make dist refuses. This test takes what there is now." >&2
echo "STALE LOCK: to renew it: go run ./hack/images lock, then make test-dist, then commit hack/images/debian.lock. What changes:" >&2
diff "${DEBIAN_LOCK:-hack/images/debian.lock}" "$lock" >&2 || true
DEBIAN_LOCK=$lock hack/dist.sh "$@"
