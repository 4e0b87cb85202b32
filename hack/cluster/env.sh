#!/usr/bin/env bash
# Prints what a shell needs to use the local cluster:  source <(hack/cluster/env.sh)
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh
cat <<SH
export KUBECONFIG=$KUBECONFIG_FILE
export IMAGE_REGISTRY=$REGISTRY
export MCPAUDIT_LOCAL_CLUSTER=1
export PATH=$(bin_dir):\$PATH
SH
