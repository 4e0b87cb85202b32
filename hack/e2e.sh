#!/usr/bin/env bash
# Runs the end-to-end tests on the local cluster. A cluster that was not up
# before is taken down afterwards. Arguments go to ginkgo's test binary.
set -euo pipefail
cd "$(dirname "$0")/.."

hack/cluster/up.sh --status >/dev/null 2>&1 || trap 'hack/cluster/down.sh' EXIT
hack/cluster/up.sh
# shellcheck source=/dev/null
source <(hack/cluster/env.sh)
export KUBECONFIG IMAGE_REGISTRY
go run ./hack/images build
hack/deploy.sh
go test -tags e2e -count=1 -timeout 40m ./test/e2e/... "$@"
