#!/usr/bin/env bash
# Goes a new user's way on the local cluster, from the files of a release: see
# test/install. The operator is not to be there before, so that a cluster that has it
# is made anew; one that was not up is taken down afterwards.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
cleanup() { rm -rf "$work"; }
trap cleanup EXIT
if hack/cluster/up.sh --status >/dev/null 2>&1; then
	# shellcheck source=/dev/null
	source <(hack/cluster/env.sh)
	if kubectl get crd mcpserveraudits.mcpaudit.dev >/dev/null 2>&1; then
		echo "test-install: the operator is in the cluster already: making the cluster anew" >&2
		hack/cluster/down.sh
	fi
else
	trap 'hack/cluster/down.sh; cleanup' EXIT
fi
hack/cluster/up.sh
# shellcheck source=/dev/null
source <(hack/cluster/env.sh)
export KUBECONFIG IMAGE_REGISTRY
HELM=$(hack/helm.sh --path)
export HELM

# A release of this machine's architecture, or the one in the folder DIST.
if [ -z "${DIST:-}" ]; then
	DIST=$work/dist
	VERSION=dev PLATFORMS=linux/amd64 hack/dist-test.sh "$work/debian.lock" "$DIST"
fi
export DIST
go run ./hack/images push --to "$IMAGE_REGISTRY" "$DIST"/*.oci.tar
go run ./hack/images build honest-node leaky-node

# The chart of the commit before: the last one that changed it, or this one itself,
# where there is no history.
PREVIOUS_CHART=$PWD/charts/mcp-audit-operator
if commit=$(git rev-list -n 1 HEAD~1 -- charts/mcp-audit-operator 2>/dev/null) && [ -n "$commit" ]; then
	mkdir "$work/previous"
	git archive "$commit" charts/mcp-audit-operator | tar -x -C "$work/previous"
	PREVIOUS_CHART=$work/previous/charts/mcp-audit-operator
	echo "test-install: upgrading from the chart of $(git rev-parse --short "$commit")" >&2
fi
export PREVIOUS_CHART
go test -tags install -count=1 -v -timeout=15m ./test/install
