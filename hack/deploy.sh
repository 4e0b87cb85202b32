#!/usr/bin/env bash
# Installs the operator into the cluster of KUBECONFIG, with the images of
# IMAGE_REGISTRY at IMAGE_TAG, and waits until it is ready. Used by the demo
# and by the end-to-end tests alike.
set -euo pipefail
cd "$(dirname "$0")/.."

: "${KUBECONFIG:?set KUBECONFIG to the cluster to install into}"
registry=${IMAGE_REGISTRY:?set IMAGE_REGISTRY to where the images were pushed, such as registry.example/team}
tag=${IMAGE_TAG:-dev}

# An overlay outside the tree: config/ stays as it is committed.
overlay=$(mktemp -d)
trap 'rm -rf "$overlay"' EXIT
cp -r config "$overlay/"
mkdir "$overlay/install"
cat >"$overlay/install/kustomization.yaml" <<YAML
resources: [../config/default]
images:
- {name: ghcr.io/mcpaudit/manager, newName: $registry/mcpaudit/manager, newTag: $tag}
- {name: ghcr.io/mcpaudit/runner, newName: $registry/mcpaudit/runner, newTag: $tag}
YAML
kubectl kustomize "$overlay/install" | kubectl apply --server-side --force-conflicts -f - >"$overlay/applied"
echo "applied $(wc -l <"$overlay/applied") objects"
kubectl wait --for=condition=Established --timeout=60s crd/mcpserveraudits.mcpaudit.dev crd/mcpauditreports.mcpaudit.dev >/dev/null
kubectl -n mcpaudit-system rollout status deployment/mcpaudit-controller-manager --timeout=180s
