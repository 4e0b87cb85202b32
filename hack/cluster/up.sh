#!/usr/bin/env bash
# Brings up a one-node Kubernetes cluster on this machine and prints its
# KUBECONFIG. A healthy one is left alone, any other is cleaned away first.
# --status only tells (exit 0: up and healthy).
set -euo pipefail
cd "$(dirname "$0")"
. ./settings.sh

# What is open beside stdin, stdout and stderr, such as the lock of a flock(1) that we
# run under, would stay open as long as the cluster is up.
for descriptor in "/proc/$$/fd"/*; do
	case ${descriptor##*/} in [0-2] | 255) ;; *) eval "exec ${descriptor##*/}>&-" ;; esac
done

case $CACHE/ in /run/* | /var/run/*) die "the cache may not lie below /run: set MCPAUDIT_CACHE" ;; esac

kubectl() { timeout 20 "$(bin_dir)/kubectl" --kubeconfig "$KUBECONFIG_FILE" "$@"; }

healthy() {
	alive "$STATE/node.pid" >/dev/null &&
		[ "$(cat "$STATE/version" 2>/dev/null)" = "$(bin_dir)" ] && [ -e "$STATE/complete" ] &&
		curl -sf -m 5 -o /dev/null "http://$REGISTRY/v2/" &&
		kubectl wait --for=condition=Ready "node/$NODE" --timeout=5s >/dev/null 2>&1
}

# The kubelet wants a cgroup of our own at the top: of each hierarchy (v1) or
# of the one (v2), whose root hands its controllers down.
make_cgroups() {
	local hierarchy file
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		cat /sys/fs/cgroup/cgroup.subtree_control >"$STATE/subtree_control.saved"
		mkdir -p "/sys/fs/cgroup/$NODE"
		return
	fi
	for hierarchy in /sys/fs/cgroup/*/; do
		[ -e "$hierarchy/cgroup.procs" ] || continue
		mkdir -p "$hierarchy/$NODE"
		[ -e "$hierarchy/$NODE/cpuset.cpus" ] || continue
		for file in cpuset.cpus cpuset.mems; do cat "$hierarchy/$file" >"$hierarchy/$NODE/$file"; done
		echo 1 >"$hierarchy/$NODE/cgroup.clone_children"
	done
}

save_sysctls() {
	local name
	for name in "${SYSCTLS[@]}"; do
		echo "$name=$(sysctl -n "$name")"
	done >"$STATE/sysctl.saved"
}

# Mount points that the node binds over; those that were missing go again.
make_mount_points() {
	local dir
	for dir in /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers; do
		[ -d "$dir" ] && continue
		echo "$dir" >>"$STATE/directories.made"
		mkdir -p "$dir"
	done
}

# await SECONDS WHAT COMMAND... polls, and gives up with the node.
await() {
	local what=$2 deadline=$((SECONDS + $1))
	shift 2
	until "$@" >/dev/null 2>&1; do
		alive "$STATE/node.pid" >/dev/null || { tail -5 "$STATE/logs/node.log" >&2; die "the node ended while waiting for $what"; }
		((SECONDS < deadline)) || die "gave up waiting for $what; see $STATE/logs"
		sleep 0.1
	done
}

start_node() {
	# It records itself before it lets go of the lock: a down.sh finds it, even if this script is killed here.
	(
		remember "$STATE/unshare.pid" "$BASHPID"
		exec setsid unshare --mount --pid --net --uts --ipc --fork --kill-child=KILL --mount-proc ./node.sh 9>&-
	) </dev/null >"$STATE/logs/node.log" 2>&1 &
	local init
	until [ "$(cat "/proc/$!/comm")" = unshare ] && init=$(tr -d ' ' <"/proc/$!/task/$!/children") && [ -n "$init" ]; do
		kill -0 $! || die "the node could not be started; see $STATE/logs/node.log"
		sleep 0.02
	done
	remember "$STATE/node.pid" "$init"
	await 20 "the node's namespaces" test -e "$STATE/node.waiting"
	# The node's only ways are its own networks and the host's end of the link.
	ip link add "$LINK" type veth peer name eth0 netns "$init"
	ip address add "$HOST_IP/24" dev "$LINK"
	ip link set "$LINK" up
	nsenter -t "$init" -n sh -c "ip address add $NODE_IP/24 dev eth0 && ip link set eth0 up && ip route add unreachable default"
	ip route add "$SERVICE_CIDR" via "$NODE_IP"
	ip route add "$POD_CIDR" via "$NODE_IP"
	touch "$STATE/link.ready"
	# In the node's PID namespace it ends with the node; in the host's network
	# namespace it listens at the host's end of the link.
	setsid nsenter -t "$init" -p "$CACHE/bin/images" serve --addr "$REGISTRY" --dir "$STATE/registry" \
		</dev/null >"$STATE/logs/registry.log" 2>&1 9>&- &
}

start() {
	trap 'say "failed; cleaning up, logs are kept in $CACHE/last-logs"; KEEP_LOGS=1 ./down.sh --locked' EXIT
	mkdir -p "$STATE/logs"
	echo "$1" >"$STATE/version"
	"$CACHE/bin/images" archive --name mcpaudit.local/pause:1 --file "$1/pause=/pause" --entrypoint /pause "$STATE/pause.tar"
	./pki.sh
	./configure.sh
	install -m 600 -o "${SUDO_UID:-0}" -g "${SUDO_GID:-0}" "$STATE/pki/admin.kubeconfig" "$KUBECONFIG_FILE"
	save_sysctls
	make_cgroups
	make_mount_points
	start_node
	await 120 "the control plane" test -e "$STATE/node.started"
	await 60 "the node to be Ready" kubectl wait --for=condition=Ready "node/$NODE" --timeout=20s
	await 60 "the default service account" kubectl -n default get serviceaccount default
	await 20 "the registry" curl -sf -m 5 -o /dev/null "http://$REGISTRY/v2/"
	touch "$STATE/complete"
	trap - EXIT
}

if [ "${1:-}" = --status ]; then
	as_root "$@"
	healthy && say "up and healthy" && exit
	die "not up"
fi

if [ -z "${MCPAUDIT_BUILT:-}" ]; then
	./build.sh >/dev/null
	(cd ../.. && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$CACHE/bin/images" ./hack/images)
fi
as_root "$@"
lock
if healthy; then
	say "already up and healthy"
else
	[ ! -e "$STATE" ] || { say "cleaning what is left of a cluster"; ./down.sh --locked; }
	began=$SECONDS
	start "$(bin_dir)"
	say "node Ready after $((SECONDS - began)) s"
fi
echo "export KUBECONFIG=$KUBECONFIG_FILE"
