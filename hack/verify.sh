#!/usr/bin/env bash
# Generates everything again and fails when that changes a file: what is
# committed must be what the sources say. Edits not yet committed do not matter.
set -euo pipefail
cd "$(dirname "$0")/.."

generated=(api charts/mcp-audit-operator/files config/crd config/rbac docs/rules.md docs/spec go.mod go.sum)
sums() { find "${generated[@]}" -type f -print0 | sort -z | xargs -0 sha256sum; }

before=$(sums)
make -s generate manifests
go mod tidy
if ! diff <(echo "$before") <(sums) >&2; then
	echo "verify: generated files were stale; they are fresh now: commit them" >&2
	exit 1
fi
echo "verify: generated files are up to date"
