#!/usr/bin/env bash
# Installs the operator into the cluster of KUBECONFIG and waits until it is
# ready: builds its two images, pushes them to IMAGE_REGISTRY, and installs them
# by digest, so that a node never runs an older one that it still has. Used by
# the demo and by the end-to-end tests alike.  Usage: deploy.sh [configuration of
# the operator]
set -euo pipefail
cd "$(dirname "$0")/.."

: "${KUBECONFIG:?set KUBECONFIG to the cluster to install into}"
: "${IMAGE_REGISTRY:?set IMAGE_REGISTRY to where images can be pushed, such as registry.example/team}"

# An overlay outside the tree: config/ stays as it is committed.
overlay=$(mktemp -d)
trap 'rm -rf "$overlay"' EXIT
cp -r config "$overlay/"
[ $# = 0 ] || cp "$1" "$overlay/config/manager/config.yaml"
{
	echo "resources: [config/default]"
	echo "configurations: [config/manager/kustomizeconfig.yaml]"
	echo "images:"
	go run ./hack/images build manager runner | while IFS=@ read -r image digest; do
		echo "- {name: ghcr.io/mcpaudit/${image##*/}, newName: $image, digest: \"$digest\"}"
	done
} >"$overlay/kustomization.yaml"
kubectl kustomize "$overlay" | kubectl apply --server-side --force-conflicts -f - >"$overlay/applied"
echo "applied $(wc -l <"$overlay/applied") objects"
kubectl wait --for=condition=Established --timeout=60s crd/mcpserveraudits.mcpaudit.dev crd/mcpauditreports.mcpaudit.dev >/dev/null
kubectl -n mcpaudit-system rollout status deployment/mcpaudit-controller-manager --timeout=180s
