#!/usr/bin/env bash
# The main job, end to end: a cluster, the operator, two audits, their results.
# With KUBECONFIG and IMAGE_REGISTRY set it uses that cluster and pushes there.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m==> %s\033[0m\n' "$*"; }

if [ -z "${KUBECONFIG:-}" ]; then
	say "Bringing up a one-node cluster"
	hack/cluster/up.sh
	# shellcheck source=/dev/null
	source <(hack/cluster/env.sh)
else
	: "${IMAGE_REGISTRY:?with a KUBECONFIG of your own, set IMAGE_REGISTRY to a registry that its nodes can pull from}"
	command -v kubectl >/dev/null || { echo "demo: kubectl is not installed" >&2; exit 1; }
fi
export KUBECONFIG IMAGE_REGISTRY

say "Building the images and pushing them to $IMAGE_REGISTRY"
go run ./hack/images build manager runner honest-node leaky-node

say "Installing the operator"
hack/deploy.sh

say "Applying config/samples"
# Fresh audits each time, also of a demo that ran before.
kubectl delete -k config/samples --ignore-not-found --wait >/dev/null
kubectl kustomize config/samples | sed "s#ghcr.io/mcpaudit/#$IMAGE_REGISTRY/mcpaudit/#" | kubectl apply -f -

say "Waiting for the verdicts"
audits=(leaky honest)
deadline=$((SECONDS + 300))
shown=
while :; do
	now=$(kubectl get mcpserveraudits "${audits[@]}" --no-headers -o custom-columns='NAME:.metadata.name,PHASE:.status.phase,VERDICT:.status.verdict')
	if [ "$now" != "$shown" ]; then
		printf '%4ds  %s\n' "$SECONDS" "$(echo "$now" | tr -s ' ' | paste -sd'|' | sed 's/|/  |  /g')"
		shown=$now
	fi
	[ "$(echo "$now" | grep -cE '(Pass|Fail|Inconclusive)$')" = "${#audits[@]}" ] && break
	if [ $SECONDS -gt $deadline ]; then
		kubectl describe mcpserveraudits
		echo "demo: no verdict after 5 minutes; the audits above say what they wait for" >&2
		exit 1
	fi
	# Wakes up at the first verdict of those that have none, or after 2 s.
	kubectl wait --for=jsonpath='{.status.verdict}' mcpserveraudits "${audits[@]}" --timeout=2s >/dev/null 2>&1 || true
done

say "kubectl get mcpserveraudits"
kubectl get mcpserveraudits
say "What the leaky server did, undeclared"
report=$(kubectl get mcpserveraudit leaky -o jsonpath='{.status.reportRef.name}')
kubectl get mcpauditreport "$report" -o go-template='{{range .spec.findings}}{{.severity}}  {{.rule}}  {{.title}}
    {{.message}}
{{range .evidence}}    {{.time}}  pid {{.pid}}  {{.detail}}
{{end}}
{{end}}'

verdict() { kubectl get mcpserveraudit "$1" -o jsonpath='{.status.verdict}'; }
if [ "$(verdict leaky)" != Fail ] || [ "$(verdict honest)" != Pass ]; then
	kubectl describe mcpserveraudits >&2
	echo "demo: expected leaky=Fail and honest=Pass, got leaky=$(verdict leaky) and honest=$(verdict honest)" >&2
	exit 1
fi
echo
echo "More:   kubectl describe mcpserveraudit leaky; kubectl get mcpauditreports"
[ -z "${MCPAUDIT_LOCAL_CLUSTER:-}" ] || echo "Reach:  export KUBECONFIG=$KUBECONFIG PATH=\$PATH:$(dirname "$(command -v kubectl)")"
[ -z "${MCPAUDIT_LOCAL_CLUSTER:-}" ] || echo "End:    make cluster-down"
