#!/usr/bin/env bash
# Runs the end-to-end tests on the local cluster. A cluster that was not up
# before is taken down afterwards.  Usage: e2e.sh LABEL-FILTER [ginkgo's flags]
set -euo pipefail
cd "$(dirname "$0")/.."
labels=$1
shift

hack/cluster/up.sh --status >/dev/null 2>&1 || trap 'hack/cluster/down.sh' EXIT
hack/cluster/up.sh
# shellcheck source=/dev/null
source <(hack/cluster/env.sh)
export KUBECONFIG IMAGE_REGISTRY
go run ./hack/images build
hack/deploy.sh test/e2e/operator.yaml
# The specs mostly wait for audits, so that more of them than there are CPUs run
# beside each other; those marked Serial run alone.
go run github.com/onsi/ginkgo/v2/ginkgo --tags=e2e --procs=5 --timeout=40m --label-filter="$labels" "$@" ./test/e2e
