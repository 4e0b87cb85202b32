# Everything a person or CI runs. `make` alone lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What takes long to build lies here, outside the tree, keyed by version.
export MCPAUDIT_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/mcpaudit
# A script that stands for python3 (of pyenv or asdf, in a directory "shims") starts dozens of programs first, and tests
# trace each start of a server: they use the interpreter itself.
PYTHON := $(shell [[ "$$(command -v python3)" != */shims/* ]] || python3 -c 'import os, sys; print(os.path.dirname(sys.executable) + ":")')
# hack/install.sh puts a Go toolchain here when the machine has none.
export PATH := $(MCPAUDIT_CACHE)/go/bin:$(PYTHON)$(PATH)
# One way to compile everything, so that nothing is compiled twice; `make lint` does what -vet=off leaves out.
export CGO_ENABLED ?= 0
export GOFLAGS ?= -buildvcs=false -trimpath -vet=off -ldflags=-w
# Registries that fail once are asked again by what installs from them.
export NPM_CONFIG_FETCH_RETRIES ?= 5
export PIP_RETRIES ?= 10
export PIP_DEFAULT_TIMEOUT ?= 60

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
BUILD := github.com/mcpaudit/mcpaudit/runner/build
LDFLAGS := -s -w -X $(BUILD).version=$(VERSION) -X $(BUILD).commit=$(COMMIT)
TOOL := go tool -modfile=hack/tools/go.mod
FUZZTIME ?= 10s

##@ Use

.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z][a-z0-9-]*:.*##/ {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: install ## Audit a leaky and an honest MCP server on a real cluster (KUBECONFIG and IMAGE_REGISTRY for your own).
	@hack/demo.sh

.PHONY: build
build: ## Build the command line, the manager and the runner into bin/.
	@mkdir -p bin
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/ ./cmd/...
	@ln -sf mcpaudit bin/kubectl-mcpaudit && ln -sf mcpaudit bin/kubectl_complete-mcpaudit

.PHONY: install
install: ## Install what this machine lacks (Debian packages, Go).
	@hack/install.sh

##@ Develop

.PHONY: generate
generate: ## Generate the deepcopy functions and docs/rules.md.
	$(TOOL) controller-gen object:headerFile=hack/boilerplate/boilerplate.go.txt paths=./api/...
	go run ./hack/rulesdoc docs/rules.md

.PHONY: manifests
manifests: ## Generate the CRDs, the RBAC rules and the fields in docs/spec.
	$(TOOL) controller-gen crd paths=./api/... output:crd:dir=config/crd/bases
	go run ./hack/crdbounds config/crd/bases/*.yaml
	$(TOOL) controller-gen rbac:roleName=mcpaudit-manager paths=./controllers/... output:rbac:dir=config/rbac
	@$(MAKE) -s chart
	go run ./hack/specdoc config/crd/bases docs/spec

.PHONY: chart
chart: ## Generate what is static in the Helm chart from config/.
	go run ./hack/chart

.PHONY: fmt
fmt: ## Format all Go files.
	$(TOOL) golangci-lint fmt

.PHONY: verify
verify: ## Fail when a generated file is stale.
	@hack/verify.sh

##@ Test

.PHONY: test
test: ## Run everything: lint, unit, outputs, chart, release, conformance, hostile, envtest, end-to-end, documentation, chaos, install.
	@hack/steps.sh install +test-outputs lint verify test-unit test-chart test-alerts test-cluster test-on-cluster

.PHONY: lint
lint: ## Lint Go, the import rules and the shell scripts.
	$(TOOL) golangci-lint run
	shellcheck -x -P SCRIPTDIR hack/*.sh hack/cluster/*.sh .ci/run

.PHONY: test-unit
test-unit: ## Run the tests that need no cluster (audits mostly wait: more packages and audits than there are CPUs run beside each other).
	go test -count=1 -timeout 60m -p 3 -parallel 6 ./...
	go -C test/containerd test ./...

.PHONY: test-conformance
test-conformance: ## Hold the tracers to what they promise: small programs, each way to trace; prints the table.
	go -C test/conformance test -tags conformance -count=1 -timeout 30m -parallel 6

.PHONY: test-hostile
test-hostile: ## Audit servers that turn against their client: each has to end in time, with a reason; prints the table.
	go test -tags hostile -count=1 -timeout 30m -v -run TestHostile ./test/hostile

.PHONY: test-outputs
test-outputs: ## Hold the formats of reports against the validators of others: schemas, GitHub's rules and parser (installs them).
	@mkdir -p "$(MCPAUDIT_CACHE)" && go test -tags outputs -count=1 -timeout 30m -v ./test/outputs

.PHONY: test-mcp-conformance
test-mcp-conformance: ## Run the conformance suite of MCP against a traced server, and against mcpaudit connect (installs it).
	@mkdir -p "$(MCPAUDIT_CACHE)" && go build -o "$(MCPAUDIT_CACHE)/mcp-conformance/mcpaudit" ./cmd/mcpaudit && \
	go run ./test/mcpconformance -mcpaudit "$(MCPAUDIT_CACHE)/mcp-conformance/mcpaudit"

.PHONY: real-servers
real-servers: ## Audit published MCP servers (installs them; ONLY=PATTERN TIMEOUT=2m PARALLEL=2 RESULTS=DIR RESUME=1); prints verdicts and tools accepted.
	@mkdir -p "$(MCPAUDIT_CACHE)/real-servers" && go build -o "$(MCPAUDIT_CACHE)/real-servers/mcpaudit" ./cmd/mcpaudit && \
	go run ./test/realservers -mcpaudit "$(MCPAUDIT_CACHE)/real-servers/mcpaudit" \
		$(if $(ONLY),-only '$(ONLY)') $(if $(TIMEOUT),-timeout $(TIMEOUT)) $(if $(PARALLEL),-parallel $(PARALLEL)) $(if $(RESULTS),-results $(RESULTS)) $(if $(RESUME),-resume)

.PHONY: reference-servers
reference-servers: ## Audit the reference servers of MCP, over every transport (installs them); fails when one is not covered.
	@mkdir -p "$(MCPAUDIT_CACHE)/real-servers" && go build -o "$(MCPAUDIT_CACHE)/real-servers/mcpaudit" ./cmd/mcpaudit && \
	go run ./test/realservers -reference -mcpaudit "$(MCPAUDIT_CACHE)/real-servers/mcpaudit"

.PHONY: eval
eval: ## Measure the rules: what they miss, and what they find in honest servers (installs those); fails under a floor.
	@mkdir -p "$(MCPAUDIT_CACHE)" && go run ./test/eval

.PHONY: eval-cve
eval-cve: ## Measure which published vulnerabilities are found, and that fixed versions are silent (CVES=DIR with checkouts, ONLY=PATTERN; installs the rest).
	@mkdir -p "$(MCPAUDIT_CACHE)/real-servers" && go build -o "$(MCPAUDIT_CACHE)/real-servers/mcpaudit" ./cmd/mcpaudit && \
	go run ./test/eval/cves -mcpaudit "$(MCPAUDIT_CACHE)/real-servers/mcpaudit" $(if $(CVES),-checkouts '$(CVES)') $(if $(ONLY),-only '$(ONLY)')

.PHONY: test-envtest
test-envtest: ## Run the controllers, and the policies made of audits, against a real API server.
	@assets="$$(hack/cluster/build.sh)" && KUBEBUILDER_ASSETS="$$assets" go test -tags envtest -timeout 30m ./api/v1alpha1/... ./controllers/... ./cmd/mcpaudit/cluster ./test/scale ./test/gatebench ./test/least

.PHONY: bench-scale
bench-scale: ## Measure what 100, 1,000 and 5,000 audits cost the operator; fails when a bound is broken (some minutes).
	@assets="$$(hack/cluster/build.sh)" && KUBEBUILDER_ASSETS="$$assets" go run ./test/scale

.PHONY: bench-gate
bench-gate: ## Measure what the gate costs whoever creates a workload, with 0 to 50,000 verdicts; fails when a bound is broken (some minutes).
	@assets="$$(hack/cluster/build.sh)" && KUBEBUILDER_ASSETS="$$assets" go run ./test/gatebench

.PHONY: test-alerts
test-alerts: ## Hold the dashboard and the alerts to the metrics, and the alerts to what they have to fire on.
	go -C test/alerts test -count=1 ./...

.PHONY: test-chart
test-chart: ## Hold the Helm chart to config/, to its schema and to its golden renderings (builds helm once).
	go test -tags chart -count=1 -timeout 30m ./test/chart

.PHONY: test-cluster
test-cluster: ## Check that the local cluster comes and goes without a trace (not while one is up).
	@if hack/cluster/up.sh --status >/dev/null 2>&1; then echo "test-cluster: skipped: it would take down the cluster that is up"; \
	else hack/cluster/test.sh; fi

.PHONY: test-on-cluster
test-on-cluster: ## Run all that takes a real cluster on one, and test-off-cluster beside test-chaos, which mostly waits.
	@hack/cluster/with.sh hack/steps.sh +test-off-cluster test-chaos test-e2e test-docs test-install

.PHONY: test-off-cluster
test-off-cluster: ## Run what takes minutes and no cluster of ours.
	@hack/steps.sh test-hostile test-conformance test-envtest test-dist

.PHONY: test-e2e
test-e2e: ## Run the end-to-end tests on a real cluster.
	@hack/e2e.sh '!chaos'

.PHONY: test-docs
test-docs: ## Run every command and apply every manifest of the documentation on a real cluster; prints what was not run, and why.
	@hack/docs.sh

.PHONY: test-chaos
test-chaos: ## Take away what audits depend on, in the middle of them: every call of the API, manager, API server, etcd, Pod, node.
	go test -tags chaos -run TestChaos -count=1 ./controllers/audit
	@hack/e2e.sh chaos

.PHONY: test-dist
test-dist: ## Make a release twice, in two folders: the same files, and what is in them.
	go test -tags dist -count=1 -timeout 30m -v ./test/dist

.PHONY: test-install
test-install: ## Go the way of a new user on a real cluster, by helm: install, gate, upgrade, uninstall, install.yaml.
	@hack/install-test.sh

.PHONY: vuln
vuln: ## Check the dependencies for known vulnerabilities (asks vuln.go.dev; not part of make test).
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./... || { echo "vuln: see above; if the database cannot be reached, set GOVULNDB to a copy of it (file:///...)" >&2; exit 1; }

.PHONY: fuzz
fuzz: ## Search for inputs that break a parser of hostile input, for FUZZTIME each; `make test` holds those that were found.
	@hack/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## Measure what tracing costs, as ratios within one run.
	go test -run '^$$' -bench . -benchmem ./runner/trace ./runner/profile ./runner/poison
	go run ./test/bench

##@ Cluster

.PHONY: cluster
cluster: ## Bring up a real one-node cluster; prints its KUBECONFIG.
	@hack/cluster/up.sh

.PHONY: cluster-down
cluster-down: ## Take it down and leave nothing behind.
	@hack/cluster/down.sh

.PHONY: images
images: ## Build all images without a daemon and push them to IMAGE_REGISTRY (default: the local cluster's).
	go run ./hack/images build

.PHONY: deploy
deploy: ## Install the operator into the cluster of KUBECONFIG with the images of IMAGE_REGISTRY.
	@hack/deploy.sh

##@ Release

.PHONY: dist
dist: ## Make a release in dist/, signed by SIGNING_KEY if given: programs, images, chart, install.yaml, SBOM, checksums (docs/releases.md).
	@hack/dist.sh
