#!/usr/bin/env bash
# helm, of the version that hack/tools/go.mod names: built once and kept in
# MCPAUDIT_CACHE. Arguments are helm's own; `hack/helm.sh --path` prints where the
# program lies.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$(sed -n 's|^\thelm.sh/helm/v4 \(v[^ ]*\).*|\1|p' "$root/hack/tools/go.mod")
helm="${MCPAUDIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mcpaudit}/bin/helm-$version"
if [ ! -x "$helm" ]; then
	echo "==> building helm $version (a few minutes, once)" >&2
	mkdir -p "${helm%/*}"
	# Packages that the tests use as well are compiled as theirs are: that is half of them.
	(cd "$root" && go build -modfile=hack/tools/go.mod -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" -o "$helm.$$" helm.sh/helm/v4/cmd/helm) >&2
	mv "$helm.$$" "$helm"
fi
[ "${1-}" != --path ] || { echo "$helm"; exit; }
exec "$helm" "$@"
