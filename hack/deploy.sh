#!/usr/bin/env bash
# Installs the operator into the cluster of KUBECONFIG and waits until it is
# ready: builds its two images, pushes them to IMAGE_REGISTRY, and installs them
# by digest, so that a node never runs an older one that it still has. A registry at an
# internal address is listed in the configuration, unless one is given. Used by
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
if [ $# = 0 ]; then
	registry=${IMAGE_REGISTRY%%/*}
	key=plainHTTP
	[[ $registry == *[!0-9.:]* ]] && key=internal
	sed -i "s|  $key: \[\]|  $key: [\"$registry\"]|" "$overlay/config/manager/config.yaml"
else
	cp "$1" "$overlay/config/manager/config.yaml"
fi
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
for deployment in mcpaudit-controller-manager mcpaudit-gate; do
	kubectl -n mcpaudit-system rollout status "deployment/$deployment" --timeout=180s
done
