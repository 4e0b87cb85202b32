# Names, addresses and places of the local cluster; the other scripts source it.
# shellcheck shell=bash disable=SC2034

KUBE_VERSION=v1.36.4 # as in kube/go.mod

# What is built, and the running state, lie outside the tree. Not below /run:
# the node has a /run of its own.
CACHE=${MCPAUDIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mcpaudit}
STATE=$CACHE/cluster
KUBECONFIG_FILE=$STATE/kubeconfig

NODE=mcpaudit          # node, cgroup and CNI network
LINK=mcpaudit0         # the host's end of the veth pair; the node's is eth0
HOST_IP=10.77.0.1      # host's end: the registries listen here
NODE_IP=10.77.0.2      # node's end: API server, DNS
REGISTRY=$HOST_IP:5000 # the cluster's registry, served by up.sh
TEST_REGISTRY=$HOST_IP:5001 # trusted likewise; for a registry that a test serves itself
POD_CIDR=10.244.0.0/24
SERVICE_CIDR=10.96.0.0/16
API_SERVICE_IP=10.96.0.1

# The kubelet sets these for the whole machine (kubelet's
# setupKernelTunables); down.sh puts them back.
SYSCTLS=(vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes)

# bin_dir prints where the binaries of this version of the sources lie.
bin_dir() {
	local here
	here=$(dirname "${BASH_SOURCE[0]}")
	echo "$CACHE/bin/$KUBE_VERSION-$(cat "$here"/kube/{main.go,go.mod,go.sum} "$here"/pause/main.go | sha256sum | cut -c1-12)"
}

say() { echo "cluster: $*" >&2; }
die() { say "$*"; exit 1; }

# started prints when the process began, in clock ticks after boot (proc(5),
# stat field 22): with it, a pid names one process and no later one.
started() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# remember FILE PID keeps a process in FILE; alive FILE prints its pid while it lives.
remember() { echo "$2 $(started "$2")" >"$1"; }
alive() {
	local pid since
	read -r pid since 2>/dev/null <"$1" && [ -n "$since" ] && [ "$(started "$pid")" = "$since" ] && echo "$pid"
}

# as_root runs the script, which has changed into its folder, again as root, on
# the same cache. What is built is built before, by the user.
as_root() {
	[ "$(id -u)" = 0 ] && return
	command -v sudo >/dev/null || die "this needs root or sudo"
	exec sudo MCPAUDIT_CACHE="$CACHE" MCPAUDIT_BUILT=1 PATH="$PATH" "./${0##*/}" "$@"
}

# lock waits until no other up.sh or down.sh runs. The kernel drops the lock
# with the last process that holds it, however that ends.
lock() {
	mkdir -p "$CACHE"
	exec 9>"$CACHE/cluster.lock"
	flock -w 300 9 || die "another up.sh or down.sh has held $CACHE/cluster.lock for 5 minutes"
}
