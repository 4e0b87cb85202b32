#!/usr/bin/env bash
# Sends a signal to a program of the local cluster's node, for tests of what
# becomes of audits then:  hack/cluster/signal.sh STOP kube-apiserver
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh
[ $# = 2 ] || die "usage: signal.sh SIGNAL PROGRAM, such as STOP kube-apiserver, CONT etcd, STOP kubelet"
as_root "$@"
node=$(alive "$STATE/node.pid") || die "not up: start it with hack/cluster/up.sh"
pkill --signal "$1" --parent "$node" -x "$2" || die "no $2 runs in the cluster"
