#!/usr/bin/env bash
# Runs the blocks of the documentation on the local cluster. One that was not up
# before is taken down afterwards. DOCS_PAGES is a pattern of the pages to run, such
# as docs/gate.  Usage: docs.sh [go test's flags]
set -euo pipefail
cd "$(dirname "$0")/.."

hack/cluster/up.sh --status >/dev/null 2>&1 || trap 'hack/cluster/down.sh' EXIT
hack/cluster/up.sh
# shellcheck source=/dev/null
source <(hack/cluster/env.sh)
export KUBECONFIG IMAGE_REGISTRY
go run ./hack/images build honest-node leaky-node tickets
hack/deploy.sh test/e2e/operator.yaml
make -s build # bin/ is on the PATH of the pages
go test -tags docs -count=1 -v -timeout 20m -parallel 4 -run TestRun "$@" ./test/docs
